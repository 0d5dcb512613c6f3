import { parse } from 'content-disposition'

/**
 * The file name in a request's `Content-Disposition`. Empty without one, and for an invalid header.
 *
 * @see RFC 6266, RFC 8187
 */
export function dispositionName(header: string | undefined): string {
  if (header === undefined) return ''
  try {
    const name = parse(header).parameters.filename ?? ''
    // Node reads headers as Latin-1. curl sends the bytes that it was given, which are mostly UTF-8.
    const bytes = /filename\*/i.test(header) ? name : Buffer.from(name, 'latin1').toString('utf8')
    return bytes.includes('\ufffd') ? name : bytes
  } catch {
    return ''
  }
}
