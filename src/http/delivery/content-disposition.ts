import { cleanFileName } from '../../core/files/file-name.ts'

/**
 * The `Content-Disposition` that has a file saved under this name. Those who read RFC 8187 (every browser, wget) take
 * the name as it is. The other one is for curl, and holds only what no reader takes for anything else: no quotes and
 * backslashes, at which curl cuts the name, no percent signs, which some browsers decode, nothing past ASCII. It is a
 * file name by the same rules as the one that it stands for.
 *
 * @param name as `cleanFileName` leaves it
 * @see RFC 6266 sections 4.3 and 5
 */
export function attachment(name: string): string {
  // "é" is "e" and an accent: better than nothing of it.
  const spelled = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]|["%\\/]/gu, '_')
  // Only now is "‥" the folder above, and one "ﷺ" are 18 letters.
  const ascii = cleanFileName(spelled) || '_'
  const extended = ascii === name ? '' : `; filename*=UTF-8''${extendedValue(name)}`
  return `attachment; filename="${ascii}"${extended}`
}

/** RFC 8187 section 3.2: what encodeURIComponent leaves and is no `attr-char` has to go as well. */
function extendedValue(text: string): string {
  return encodeURIComponent(text).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
