import type { TextEncoding } from '../plugin-api/inspectors.ts'

/** Decodes the start of a text file: UTF-16 with a byte order mark, UTF-8, otherwise Windows-1252. */
export function decodedText(bytes: Uint8Array): { text: string; encoding: TextEncoding } {
  const [first, second] = bytes
  const as = (encoding: TextEncoding) => ({ text: new TextDecoder(encoding).decode(bytes), encoding })
  if (first === 0xff && second === 0xfe) return as('utf-16le')
  if (first === 0xfe && second === 0xff) return as('utf-16be')
  try {
    // `stream` accepts a character that the end of the bytes cuts in two.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return { text, encoding: 'utf-8' }
  } catch {
    return as('windows-1252')
  }
}
