import { cleanFileName } from '../../core/files/file-name.ts'

// Of our own: the package `content-disposition` writes names that curl truncates or reads otherwise than browsers.

/**
 * The `Content-Disposition` by which a file is saved under this name. Programs that implement RFC 8187 (all browsers, wget) use
 * `filename*`, the exact name. `filename` is for curl, and has only characters that all programs read alike: no quotes and
 * backslashes, at which curl truncates the name, no percent signs, which some browsers decode, and only ASCII. It is cleaned
 * by the same rules as the exact name.
 *
 * @param name as `cleanFileName` returns it
 * @see RFC 6266 sections 4.3 and 5
 */
export function attachment(name: string): string {
  // Decomposed, "é" is "e" and an accent: the "e" can be sent.
  const spelled = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]|["%\\/]/gu, '_')
  // After decomposition: "‥" has become the parent folder, and one "ﷺ" 18 letters.
  const ascii = cleanFileName(spelled) || '_'
  const extended = ascii === name ? '' : `; filename*=UTF-8''${extendedValue(name)}`
  return `attachment; filename="${ascii}"${extended}`
}

/** RFC 8187 section 3.2: also encodes characters that encodeURIComponent leaves, but that are no `attr-char`. */
function extendedValue(text: string): string {
  return encodeURIComponent(text).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
