import type { MediaGroup } from './media/groups.ts'
import { NOT_TRANSFORMABLE, Problem } from './problem.ts'

/** A kind of files, as errors name it. */
export type SourceKind = MediaGroup | 'document'

/** Problem 422: the source exceeds a limit of transformations. */
export function notTransformable(detail: string, cause?: unknown): Problem {
  return new Problem({ status: 422, code: NOT_TRANSFORMABLE, detail, cause })
}

/** Problem 422: the source needs more time than the limit. */
export function takesTooLong(what: SourceKind, cause?: unknown): Problem {
  const detail = `This ${what} takes too long to transform.`
  return new Problem({ status: 422, code: NOT_TRANSFORMABLE, detail, members: { reason: TOO_SLOW }, cause })
}

/** Problem 422: the source needs more memory than the limit. */
export function takesTooMuchMemory(what: SourceKind, cause?: unknown): Problem {
  return new Problem({
    status: 422,
    code: 'too_much_memory',
    detail: `This ${what} takes too much memory to transform.`,
    cause,
  })
}

/** Problem 422: a source without bytes. Not remembered as a failure: the bytes may have been lost, and may be restored. */
export function emptySource(): Problem {
  const detail = 'This file is empty.'
  return new Problem({ status: 422, code: NOT_TRANSFORMABLE, detail, members: { reason: EMPTY } })
}

export const EMPTY = 'empty'

export const BROKEN = 'broken'

/** Problem 422: the source is broken, or is not an image at all. */
export function notDecodable(detail: string, cause?: unknown): Problem {
  return new Problem({ status: 422, code: NOT_TRANSFORMABLE, detail, members: { reason: BROKEN }, cause })
}

/** Problem 422: the source needs a password. @param what `PDF`, `document` */
export function encryptedFile(what: string, cause?: unknown): Problem {
  return new Problem({
    status: 422,
    code: 'encrypted_file',
    detail: `This ${what} is encrypted with a password, so it cannot be transformed. Upload it without a password.`,
    cause,
  })
}

/** Problem 422: the file is valid, but has no picture of itself. */
export function noCover(): Problem {
  return new Problem({ status: 422, code: 'no_cover', detail: 'This file has no cover.' })
}

/** Problem 422: the file is truncated, and the operator refuses such files. */
export function truncatedImage(): Problem {
  return new Problem({
    status: 422,
    code: 'truncated_image',
    detail: 'This image is truncated: its file ends too early. Upload the complete file.',
  })
}

export const TOO_SLOW = 'too_slow'

export const FORMAT_TOO_SMALL = 'format_too_small'

/**
 * Problem 422: the image is valid, but exceeds the sides of this format; another format can hold it. `maxSide` in
 * pixels.
 */
export function formatTooSmall(
  { format, maxSide }: { format: string; maxSide: number },
  cause?: unknown,
): Problem {
  return new Problem({
    status: 422,
    code: FORMAT_TOO_SMALL,
    detail: `The output would exceed ${maxSide} px a side, the maximum of ${format}. Request a smaller size or another format.`,
    members: { format, maxSide },
    cause,
  })
}

/** The format that a {@link formatTooSmall} names; undefined for any other error. */
export function tooSmallFormat(error: unknown): string | undefined {
  const is = error instanceof Problem && error.code === FORMAT_TOO_SMALL
  return is ? String(error.members.format) : undefined
}
