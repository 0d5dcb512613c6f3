import { z } from 'zod'
import { classifyKey, type ObjectKey, RECORDS, recordPrefix } from '../../core/files/object-key.ts'
import { foreignDerivatives } from '../../core/foreign/foreign-path.ts'
import type { Content } from './checked-bytes.ts'

// Objects that are rendered again, of uploads in progress, of checks by `sluice doctor`, and roots of other clients.
const LEFT_OUT = [foreignDerivatives, ...['tus', 'check', 'roots'].map((name) => `${RECORDS}/${name}/`)]

/** Whether an object is a record that a backup must have: nothing else has what it states. */
export function isRecord(key: ObjectKey): boolean {
  if (!key.startsWith(`${RECORDS}/`) || LEFT_OUT.some((prefix) => key.startsWith(prefix))) return false
  return !key.startsWith(recordPrefix) || classifyKey(key)?.kind === 'record'
}

/** The key and media type of the original that a record describes; undefined for records of another kind. */
export function originalOf(record: ObjectKey): { key: ObjectKey; mediaType: string } | undefined {
  const meaning = classifyKey(record)
  if (meaning?.kind !== 'record') return undefined
  const { key, format } = meaning.original
  return { key, mediaType: format.mediaType }
}

const described = z.object({
  size: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  mediaType: z.string().optional(),
})

/** The content that the record of an original states, with its media type. Undefined for an invalid record. */
export function contentIn(record: Buffer): (Content & { mediaType?: string | undefined }) | undefined {
  try {
    return described.parse(JSON.parse(record.toString('utf8')))
  } catch {
    return undefined
  }
}
