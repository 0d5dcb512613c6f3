import { parse } from 'content-disposition'

/**
 * The file name of a request's `Content-Disposition`; empty for none, and for a header that cannot be read.
 *
 * @see RFC 6266, RFC 8187
 */
export function dispositionName(header: string | undefined): string {
  if (header === undefined) return ''
  try {
    const name = parse(header).parameters.filename ?? ''
    // Node reads the bytes of headers as Latin-1; curl sends what it was given, UTF-8 as a rule.
    const bytes = /filename\*/i.test(header) ? name : Buffer.from(name, 'latin1').toString('utf8')
    return bytes.includes('\ufffd') ? name : bytes
  } catch {
    return ''
  }
}
