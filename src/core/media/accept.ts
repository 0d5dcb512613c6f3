/**
 * Whether an `Accept` header names a media type. Wildcards do not count: browsers without AVIF send `image/*` too.
 *
 * @see RFC 9110 section 12.5.1
 */
export function accepts(accept: string, mediaType: string): boolean {
  return accept.split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return type === mediaType && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}
