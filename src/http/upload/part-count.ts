/** Counts the parts of a multipart body while it passes. */
export interface PartCount {
  push(chunk: Buffer): void
  /** The number of boundaries so far, without the closing one. For a complete body this is the number of its parts. */
  begun(): number
}

/**
 * Detects parts that the parser has silently ignored: a part with an invalid header, such as `filename=my file.png`, and
 * text after a line that only begins like a boundary. The caller compares this count with the parts from the parser.
 *
 * @param contentType of the request
 * @returns undefined when it has no boundary
 */
export function createPartCount(contentType: string | undefined): PartCount | undefined {
  const [, quoted, token] = /;\s*boundary=(?:"([^"\\]+)"|([^\s;"]+))/i.exec(contentType ?? '') ?? []
  const boundary = quoted ?? token
  if (boundary === undefined) return undefined
  const mark = Buffer.from(`\r\n--${boundary}`, 'latin1')
  // The body may begin with the first boundary, without CRLF before it.
  let kept = Buffer.from('\r\n')
  let begun = 0
  let ended = false
  return {
    begun: () => begun,
    push(chunk) {
      if (ended) return
      const bytes = Buffer.concat([kept, chunk])
      let at = 0
      for (;;) {
        const found = bytes.indexOf(mark, at)
        if (found === -1) {
          kept = bytes.subarray(Math.max(at, bytes.length - mark.length + 1))
          return
        }
        const behind = found + mark.length
        if (behind + 2 > bytes.length) {
          kept = bytes.subarray(found)
          return
        }
        ended = bytes.toString('latin1', behind, behind + 2) === '--'
        if (ended) return
        begun += 1
        at = behind
      }
    },
  }
}
