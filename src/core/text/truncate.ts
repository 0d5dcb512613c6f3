const SHOWN_MAX = 100

/** A received value as text that a message can bear: at most 100 characters, and a `…` where there were more. */
export function truncate(received: unknown): string {
  // JSON has no word for a number past its bounds, which it reads: 1e309 would be null.
  const asItIs = typeof received === 'string' || typeof received === 'number'
  const text = asItIs ? String(received) : jsonStart(received)
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text
}

/** The beginning of a value in JSON, and no more: a whole one may be nested deeper than the stack is. */
function jsonStart(received: unknown): string {
  let text = ''
  const write = (value: unknown) => {
    // Each level writes a character at least.
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
