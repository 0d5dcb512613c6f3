/**
 * The text of a header field. Node reads the bytes of headers as Latin-1, and many programs send file names and URLs in UTF-8.
 *
 * @param latin1 as Node has read it
 * @returns the bytes read as UTF-8; where they are not valid UTF-8, the parameter
 */
export function headerText(latin1: string): string {
  const text = Buffer.from(latin1, 'latin1').toString('utf8')
  return text.includes('\ufffd') ? latin1 : text
}
