import { z } from 'zod'
import { type ObjectKey, parseKey } from '../files/object-key.ts'
import type { Alias } from './alias.ts'

const version = z.object({
  version: z.int().min(1),
  key: z.string().refine(isOriginal),
  setAt: z.number(),
})
const aliasRecord = z.object({ name: z.string(), versions: z.array(version).min(1) })

/** The JSON of an alias's record in the bucket. */
export function serializeAlias(alias: Alias): Buffer {
  return Buffer.from(JSON.stringify(aliasRecord.parse(alias)))
}

/** @throws Error that names the record when it is invalid */
export function parseAlias(key: ObjectKey, bytes: Buffer): Alias {
  try {
    // The schema does not state that there is a first version, and that keys are checked.
    return aliasRecord.parse(JSON.parse(bytes.toString('utf8'))) as unknown as Alias
  } catch (cause) {
    throw new Error(`${key}: expected an alias's record; restore it or remove it`, { cause })
  }
}

function isOriginal(key: string): boolean {
  const name = parseKey(key)
  return name !== undefined && name.variant === undefined
}
