/** Counts the parts of a multipart body as it passes. */
export interface PartCount {
  push(chunk: Buffer): void
  /** Boundaries that have passed and were not the last one: of a whole body, its parts. */
  begun(): number
}

/**
 * The parser passes over a part whose header it cannot read, as `filename=my file.png`, and over what is behind a line that
 * only begins like a boundary, and tells nobody: so that what it has told can be compared with what there was.
 *
 * @param contentType of the request
 * @returns undefined when it names no boundary
 */
export function createPartCount(contentType: string | undefined): PartCount | undefined {
  const [, quoted, token] = /;\s*boundary=(?:"([^"\\]+)"|([^\s;"]+))/i.exec(contentType ?? '') ?? []
  const boundary = quoted ?? token
  if (boundary === undefined) return undefined
  const mark = Buffer.from(`\r\n--${boundary}`, 'latin1')
  // The first boundary may be at the very beginning.
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
