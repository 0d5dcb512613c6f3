/** The name of a row of LevelDB: its fields, with NUL between them, which no key contains. */
export function row(...fields: string[]): string {
  return fields.join('\0')
}

/** The range of all rows that begin with these fields. */
export function under(fields: string): { gt: string; lt: string } {
  return { gt: `${fields}\0`, lt: `${fields}\x01` }
}
