import type { Findings } from './candidates.ts'
import type { Parts } from './parts.ts'

const JPEG_AT = 84

/** A RAF of Fujifilm names its JPEG, with the orientation, at a fixed place of its header. */
export async function findingsOfRaf(parts: Parts): Promise<Findings> {
  const place = await parts.read(JPEG_AT, 8)
  if (place.length < 8) return { candidates: [] }
  return { candidates: [{ at: place.readUInt32BE(0), length: place.readUInt32BE(4) }] }
}
