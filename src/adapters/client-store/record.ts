import { z } from 'zod'
import type { Client } from '../../core/clients/client.ts'
import { STORED_RULES } from '../../core/clients/rules/schemas.ts'
import { STORED_SETTINGS } from '../../core/clients/storage-settings.ts'
import type { ObjectKey } from '../../core/files/object-key.ts'

/**
 * The layout of all records in a bucket: of clients, files, aliases and members. Increase it when an older version would misread or
 * damage a record. The new version then writes it into the first client's record before any other. Records without it have layout 1.
 */
export const RECORD_LAYOUT = 1

const digest = z.string().length(64)
const clientRecord = z.object({
  id: z.string(),
  name: z.string().optional(),
  token: z.string(),
  secrets: z.array(
    z.object({
      id: z.string().optional(),
      name: z.string().optional(),
      digest,
      scope: z
        .object({ only: z.enum(['upload', 'read']).optional(), folder: z.string().optional() })
        .optional(),
      validUntil: z.number().optional(),
    }),
  ),
  createdAt: z.number(),
  urlKeys: z
    .object({
      active: z.array(z.object({ version: z.int().min(1), createdAt: z.number() })),
      last: z.int().min(1),
    })
    .optional(),
  rules: z.object(STORED_RULES).optional(),
  presetDescriptions: z.record(z.string(), z.string()).optional(),
  storage: z.object({ ...STORED_SETTINGS, sealedSecret: z.string(), address: z.string() }).optional(),
  pausedUntil: z.number().optional(),
  removing: z.object({ files: z.boolean() }).optional(),
  recovery: z.string().optional(),
})

/** The record format of versions in which secrets could not expire. */
const formerRecord = z
  .object({ id: z.string(), token: z.string(), secretDigests: z.array(digest), createdAt: z.number() })
  .transform(({ secretDigests, ...rest }) => ({
    ...rest,
    secrets: secretDigests.map((each) => ({ digest: each })),
  }))

/** The record of a client in the bucket. It has only the digests of secrets, and the secret key of an own bucket is sealed. */
export function serializeClient(client: Client): Buffer {
  return Buffer.from(JSON.stringify({ ...clientRecord.parse(client), layout: RECORD_LAYOUT }))
}

/** @throws Error that names the record when it is invalid, or has the layout of a newer version */
export function parseClient(key: ObjectKey, bytes: Uint8Array): Client {
  const json = parseJson(key, bytes)
  const { success, data } = z.object({ layout: z.number() }).safeParse(json)
  if (success && data.layout > RECORD_LAYOUT)
    throw new Error(
      `The records in the bucket have the layout ${data.layout} of a newer version. This version supports layout ${RECORD_LAYOUT}: start the newer version.`,
    )
  try {
    const isFormer = typeof json === 'object' && json !== null && 'secretDigests' in json
    // Zod types optional members as possibly undefined. JSON has no undefined, so the cast is safe.
    return (isFormer ? formerRecord : clientRecord).parse(json) as Client
  } catch (cause) {
    throw noRecord(key, cause)
  }
}

function parseJson(key: ObjectKey, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch (cause) {
    throw noRecord(key, cause)
  }
}

function noRecord(key: ObjectKey, cause: unknown): Error {
  return new Error(`${key}: expected a client's record; restore it or remove it`, { cause })
}
