import pLimit from 'p-limit'
import type { Client } from '../../../core/clients/client.ts'
import type { Format } from '../../../core/media/formats.ts'
import type { ImageInspector } from '../../../core/plugin-api/inspectors.ts'
import type { Bucket } from '../../../core/ports/bucket.ts'
import type { OriginalRecord } from '../../../core/ports/file-index.ts'
import { Problem } from '../../../core/problem.ts'
import { linkMediaTypes } from '../../../core/signing/upload-link.ts'
import { sourceFacts } from '../../derivatives/source-facts.ts'

/**
 * Refuses a format that is not among the accepted types.
 *
 * @param types media groups and names of formats; undefined: all
 * @param options.owner what has the rule, for the message: `link`, `client`
 * @throws Problem 415
 */
export function checkType(
  types: readonly string[] | undefined,
  { name, group, mediaType }: Format,
  { owner }: { owner: 'link' | 'client' },
): void {
  if (!types || types.includes(name) || types.includes(group)) return
  const expected = linkMediaTypes(types)
  throw new Problem({
    status: 415,
    code: 'type_not_allowed',
    detail: `expected a file of type ${expected.join(' or ')} for this ${owner} but its bytes are ${mediaType}`,
    members: { expected: expected.join(', '), received: mediaType },
  })
}

/** Rules for the content of a file. */
export interface ContentRules {
  /** Minimum and maximum of width × height of an image, both inclusive. */
  minPixels?: number | undefined
  maxPixels?: number | undefined
  /** Whether images must be decodable, and the headers of video and audio readable. */
  isDecodable?: boolean | undefined
}

/** The rules for the content of files that a client uploads. */
export function contentRulesOf({ rules = {} }: Pick<Client, 'rules'>): ContentRules {
  const { uploadMinPixels, uploadMaxPixels, uploadDecodable } = rules
  return { minPixels: uploadMinPixels, maxPixels: uploadMaxPixels, isDecodable: uploadDecodable }
}

/** A file whose bytes are in the bucket, but which is not stored yet. */
export interface ArrivedFile {
  client: Client
  format: Format
  record: OriginalRecord
  bucket: Bucket
  signal: AbortSignal
}

/** Refuses an image whose number of pixels a rule does not allow. @param owner what has the rule @throws Problem 422, 503 */
export type CheckPixels = (
  file: ArrivedFile,
  rules: Pick<ContentRules, 'minPixels' | 'maxPixels'>,
  options: { owner: 'link' | 'client' },
) => Promise<void>

// The header of a JPEG is in its first 100 kB; that of a WebP needs the complete file.
const HEAD_BYTES = 16 * 1024 * 1024
// At most 32 MiB in memory.
const AT_ONCE = 2

export function createCheckPixels({ inspector }: { inspector: ImageInspector }): CheckPixels {
  const reading = pLimit(AT_ONCE)
  return async ({ format, record, bucket, signal }, { minPixels: min = 0, maxPixels: max }, { owner }) => {
    if (format.group !== 'image' || (min === 0 && max === undefined)) return
    const known = await reading(async () => {
      signal.throwIfAborted()
      const asset = await bucket.find(record.key, record)
      return asset && inspector.facts({ ...asset, ...sourceFacts(record) }, { maxBytes: HEAD_BYTES, signal })
    })
    const pixels = known && known.width * known.height
    if (pixels !== undefined && pixels >= min && (max === undefined || pixels <= max)) return
    const bounds = max === undefined ? `at least ${min}` : min === 0 ? `at most ${max}` : `${min} to ${max}`
    throw new Problem({
      status: 422,
      code: 'image_size_not_allowed',
      detail: `expected an image of ${bounds} pixels for this ${owner} but ${known ? `it has ${known.width} x ${known.height}` : 'its size cannot be read'}`,
      members: known ? { width: known.width, height: known.height } : {},
    })
  }
}
