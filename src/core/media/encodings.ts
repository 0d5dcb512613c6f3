/** An encoding in which files are stored, by its name in `Content-Encoding`. */
export type Encoding = 'br' | 'gzip'

/** All encodings, the preferred one first. */
export const ENCODINGS: readonly Encoding[] = ['br', 'gzip']

const TEXT_LIKE =
  /^(?:text\/[\w.+-]+|image\/svg\+xml|application\/(?:[\w.-]+\+)?(?:json|xml|javascript|x-ndjson|yaml|toml|rtf|sql)|application\/(?:vnd\.apple\.mpegurl|x-mpegurl|x-subrip|x-sh))(?:;|$)/

/** Whether files of this media type are texts, which become much smaller. Other formats are compressed already, or seldom. */
export function isCompressible(mediaType: string): boolean {
  return TEXT_LIKE.test(mediaType.toLowerCase())
}

/**
 * The first of the available encodings that the client accepts. Undefined: none of them, so the bytes are sent as they are.
 *
 * @see RFC 9110 section 12.5.3
 */
export function acceptedEncoding(
  header: string | string[] | undefined,
  available: readonly Encoding[],
): Encoding | undefined {
  const weights = new Map(
    String(header ?? '')
      .toLowerCase()
      .split(',')
      .map((item) => {
        const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
        const weight = parameters.find((parameter) => parameter.startsWith('q='))
        return [name, weight === undefined ? 1 : Number(weight.slice(2))]
      }),
  )
  return available.find((encoding) => Number(weights.get(encoding) ?? weights.get('*') ?? 0) > 0)
}
