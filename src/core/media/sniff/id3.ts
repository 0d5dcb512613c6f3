/** The end of an ID3v2 tag at the start of a file, in bytes; undefined without a tag. @see ID3v2.4.0, section 3.1 */
export function id3End(head: Uint8Array): number | undefined {
  if (head.length < 10 || head[0] !== 0x49 || head[1] !== 0x44 || head[2] !== 0x33) return undefined
  const [a = 0, b = 0, c = 0, d = 0] = head.subarray(6, 10)
  // Each byte has seven bits of the length. With the eighth bit set, this is a text that begins with "ID3".
  if ((head[3] ?? 0xff) > 4 || (a | b | c | d) & 0x80) return undefined
  const footer = (head[5] ?? 0) & 0x10 ? 10 : 0
  return 10 + a * 2 ** 21 + b * 2 ** 14 + c * 2 ** 7 + d + footer
}
