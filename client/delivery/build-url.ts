import type { FileRecord } from '../generated/api.ts'
import type { TransformParameters } from './parameters.ts'
import { queryOf } from './query.ts'

/** A delivery URL, or a record that has one. */
export type DeliverySource = string | Pick<FileRecord, 'src'>

/**
 * A delivery URL with parameters: `buildUrl(record, { w: 400, f: 'auto' })`. True is a parameter without a value, false and undefined
 * leave it out. Parameters that `src` already has stay. A signature is removed, since it covers the parameters: sign the result with
 * `urls.sign()`.
 */
export function buildUrl(src: DeliverySource, parameters: TransformParameters | string = {}): string {
  const url = typeof src === 'string' ? src : src.src
  const query = queryOf(parameters)
  if (query === '') return url
  const open = withoutSignature(url)
  return `${open}${open.includes('?') ? '&' : '?'}${query}`
}

// As the service appends it to `src`. A caller may have appended `?w=300` to it.
const SIGNATURE = /([?&])(?:exp=\d{1,10}&)?s=\d{1,9}\.[\w-]{43}(?:[?&](.*))?$/s

/** A delivery URL without its signature. */
export function withoutSignature(url: string): string {
  return url.replace(SIGNATURE, (_, sign: string, rest?: string) => (rest ? `${sign}${rest}` : ''))
}
