/** Decodes percent-encoded UTF-8; undefined for a text that is not valid, and empty for none. */
export function percentDecoded(text = ''): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
