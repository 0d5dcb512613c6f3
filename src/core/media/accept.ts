/**
 * Whether an `Accept` header names a media type. Only the type itself counts: `image/*` is also what browsers say that
 * cannot show AVIF.
 *
 * @see RFC 9110 section 12.5.1
 */
export function accepts(accept: string, mediaType: string): boolean {
  return accept.split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return type === mediaType && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}
