/**
 * Splits chunks of text of any size into lines, which end with LF or CRLF.
 *
 * @param options.maxCharacters the limit of a line: it is in memory as a whole
 * @throws Error for a longer line
 */
export async function* linesOf(
  chunks: AsyncIterable<string>,
  { maxCharacters }: { maxCharacters: number },
): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of chunks) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of [...lines, rest])
      if (line.length > maxCharacters)
        throw new Error(`expected lines of at most ${maxCharacters} characters`)
    for (const line of lines) yield line.replace(/\r$/, '')
  }
  if (rest !== '') yield rest
}
