import type { Request } from 'express'
import { badParameter } from '../../core/problem.ts'

// A request may read and write the records of all its parts. tus-js-client sends up to one a connection, and few more are of use.
const MAX_PARTS = 100

/** The `Upload-Concat` of a request that creates an upload: a part, or the IDs of the uploads that it joins, in order. */
export type Concat = 'partial' | readonly string[]

/**
 * Reads `Upload-Concat`. Undefined without it.
 *
 * @throws Problem 400
 * @see https://tus.io/protocols/resumable-upload#upload-concat
 */
export function concatOf(req: Request): Concat | undefined {
  const header = req.get('Upload-Concat')
  if (header === undefined || header === 'partial') return header
  const urls = /^final; *(\S+( +\S+)*)$/.exec(header)?.[1]?.split(/ +/) ?? []
  const ids = urls.flatMap((url) => /\/v1\/tus\/([^/~?#]+)(?:~[^/?#]*)?$/.exec(url)?.[1] ?? [])
  if (
    ids.length > 0 &&
    ids.length === urls.length &&
    ids.length <= MAX_PARTS &&
    new Set(ids).size === ids.length
  )
    return ids
  throw badParameter({
    param: 'Upload-Concat',
    expected: `partial, or final; and the URLs of up to ${MAX_PARTS} uploads`,
    received: header,
  })
}
