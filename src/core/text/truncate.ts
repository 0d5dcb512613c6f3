const SHOWN_MAX = 100

/** Returns a received value as text for a message: at most 100 characters, then `…` when it was longer. */
export function truncate(received: unknown): string {
  // JSON cannot represent a number beyond its range: 1e309 would become null.
  const asItIs = typeof received === 'string' || typeof received === 'number'
  const text = asItIs ? String(received) : jsonStart(received)
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text
}

/** Returns the start of a value in JSON. The whole value may be nested deeper than the stack allows. */
function jsonStart(received: unknown): string {
  let text = ''
  const write = (value: unknown) => {
    // Each level writes at least one character.
    if (text.length > SHOWN_MAX) return
    if (typeof value === 'string') text += JSON.stringify(value.slice(0, SHOWN_MAX + 1))
    else if (Array.isArray(value)) writeAll(value, '[]')
    else if (typeof value === 'object' && value !== null) writeAll(value, '{}')
    else text += String(value)
  }
  const writeAll = (value: object, [begin, end]: string) => {
    text += begin
    let separator = ''
    for (const name in value) {
      if (text.length > SHOWN_MAX) return
      text += separator
      separator = ','
      if (begin === '{') text += `${JSON.stringify(name.slice(0, SHOWN_MAX + 1))}:`
      write((value as Record<string, unknown>)[name])
    }
    text += end
  }
  write(received)
  return text
}
