import { parse } from 'content-disposition'

/**
 * The file name of a received `Content-Disposition` header; empty for no header, for one without a name, and for one that
 * cannot be parsed.
 *
 * @param header decoded, see `core/text/header-text.ts`
 * @see RFC 6266, RFC 8187
 */
export function dispositionName(header: string | undefined): string {
  try {
    return header === undefined ? '' : (parse(header).parameters.filename ?? '')
  } catch {
    return ''
  }
}
