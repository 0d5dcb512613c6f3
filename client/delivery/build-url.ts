import type { FileRecord } from '../generated/api.ts'
import type { TransformParameters } from './parameters.ts'
import { queryOf } from './query.ts'

/** A delivery URL, or a record that has one. */
export type DeliverySource = string | Pick<FileRecord, 'src'>

/**
 * A delivery URL with parameters: `buildUrl(record, { w: 400, f: 'auto' })`. True is a parameter without a value, false and undefined
 * leave it out. Parameters that `src` already has stay.
 */
export function buildUrl(src: DeliverySource, parameters: TransformParameters | string = {}): string {
  const url = typeof src === 'string' ? src : src.src
  const query = queryOf(parameters)
  if (query === '') return url
  return `${url}${url.includes('?') ? '&' : '?'}${query}`
}
