/** A text as it may stand in the name of a test: quoted, short, its controls escaped. */
export function shown(text: string): string {
  const escaped = JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return escaped.length > 50 ? `${escaped.slice(0, 50)}…` : escaped
}
