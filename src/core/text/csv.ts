// A row of an export has an address, some names and metadata.
const ROW_MAX_CHARACTERS = 1024 * 1024

/**
 * Parses comma separated values, in chunks of text of any size. Rows end with LF or CRLF. Empty lines are ignored.
 *
 * @see RFC 4180
 * @throws Error for a row of more than 1,048,576 characters, and for a quote that is not closed
 */
export async function* csvRows(chunks: AsyncIterable<string>): AsyncGenerator<string[]> {
  let row: string[] = []
  let cell = ''
  let length = 0
  let isQuoted = false
  // A quote within quotes ends them, unless another one follows.
  let mayEnd = false
  for await (const chunk of chunks)
    for (const character of chunk) {
      if (++length > ROW_MAX_CHARACTERS)
        throw new Error(`expected rows of at most ${ROW_MAX_CHARACTERS} characters`)
      if (isQuoted && !mayEnd) {
        if (character === '"') mayEnd = true
        else cell += character
      } else if (mayEnd && character === '"') {
        cell += '"'
        mayEnd = false
      } else if (character === ',' || character === '\n') {
        isQuoted = mayEnd = false
        row.push(character === '\n' && cell.endsWith('\r') ? cell.slice(0, -1) : cell)
        cell = ''
        if (character === ',') continue
        if (row.length > 1 || row[0] !== '') yield row
        row = []
        length = 0
      } else if (character === '"' && cell === '') isQuoted = true
      else cell += character
    }
  if (isQuoted && !mayEnd) throw new Error('the last quoted cell has no closing quote')
  if (cell !== '' || row.length > 0) yield [...row, cell.endsWith('\r') ? cell.slice(0, -1) : cell]
}

/** A row as one line of CSV, with its line break. Cells are quoted where necessary. */
export function csvRow(cells: readonly string[]): string {
  const quoted = (cell: string) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
  return `${cells.map(quoted).join(',')}\n`
}
