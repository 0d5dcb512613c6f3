import { z } from 'zod'
import { badParameter } from '../../core/problem.ts'
import type { ClientChanges } from '../../service/clients/clients.ts'
import type { NewSecret } from '../../service/clients/credentials.ts'
import type { StorageSettings } from '../../service/clients/storage-settings.ts'
import { boundedArray, boundedInteger, boundedRecord } from '../body/bounded-schemas.ts'
import { checkedBody } from '../body/parse.ts'

const MAX_SECONDS = 365 * 86_400
const seconds = (min: number) => boundedInteger({ min, max: MAX_SECONDS })

/** Accepts `null` in JSON, which removes a rule. The service uses `false` for this. */
const orNull = <T extends z.ZodType>(schema: T, expected: string) =>
  z
    .union([schema, z.null()], expected)
    .transform((value) => (value === null ? (false as const) : value))
    .optional()

// A first limit for lengths. The exact limits, which messages name, are checked by the services.
const MANY = 1000
const list = <T extends z.ZodType>(element: T) =>
  boundedArray(element, { max: MANY, expected: `at most ${MANY} items` })
const named = <T extends z.ZodType>(value: T) =>
  boundedRecord(value, { max: MANY, expected: 'an object', expectedAtMost: `at most ${MANY} members` })

// Each text describes the expected value in error messages.
const rules = z.strictObject(
  {
    signedUrls: orNull(z.boolean(), 'true, false or null'),
    presetsOnly: orNull(z.boolean(), 'true, false or null'),
    allowedWidths: orNull(list(z.number()), 'an array of integers or null'),
    variantLimit: orNull(z.number(), 'an integer or null'),
    derivativesMaxBytes: orNull(z.number(), 'an integer or null'),
    fetchHosts: orNull(z.literal('any').or(list(z.string())), '"any", an array of hosts or null'),
    fetchDenyHosts: orNull(list(z.string()), 'an array of hosts or null'),
    keepDeletedSeconds: orNull(z.number(), 'an integer or null'),
    dedupe: orNull(z.literal('reuse'), '"reuse" or null'),
    uploadMaxBytes: orNull(z.number(), 'an integer or null'),
    rates: orNull(
      named(z.number().or(z.null().transform(() => false as const))),
      'an object of integers or null, by the name of the limit, or null',
    ),
    presets: orNull(
      named(named(z.union([z.string(), z.number(), z.boolean()]))),
      'an object of presets, each an object of parameters, or null',
    ),
  },
  'an object of signedUrls, presetsOnly, allowedWidths, variantLimit, derivativesMaxBytes, fetchHosts, fetchDenyHosts, keepDeletedSeconds, dedupe, uploadMaxBytes, rates and presets',
)
const storage = z.strictObject(
  {
    bucket: z.string('a string'),
    accessKeyId: z.string('a string'),
    secretAccessKey: z.string('a string'),
    endpoint: z.string('a string').optional(),
    region: z.string('a string').optional(),
    prefix: z.string('a string').optional(),
    forcePathStyle: z.boolean('true or false').optional(),
    publicUrl: z.string('a string').optional(),
  },
  'an object of bucket, accessKeyId, secretAccessKey, endpoint, region, prefix, forcePathStyle and publicUrl',
)
const newClient = z.strictObject(
  { name: z.string('a string').optional(), rules: rules.optional(), storage: storage.optional() },
  'an object of name, rules and storage',
)
const changes = z.strictObject(
  { name: z.union([z.string(), z.null()], 'a string or null').optional(), rules: rules.optional() },
  'an object of name and rules',
)
const rotation = z.strictObject({ keepOldSeconds: seconds(0).default(86_400) }, 'an object of keepOldSeconds')
const newSecret = z.strictObject(
  {
    name: z.string('a string').optional(),
    only: z.enum(['upload', 'read'], 'upload or read').optional(),
    folder: z.string('a string').optional(),
    validSeconds: seconds(1).optional(),
  },
  'an object of name, only, folder and validSeconds',
)

/** Validates the body of a new client. @throws Problem 400, which never contains the secret */
export function readNewClient(body: unknown): ClientChanges & { storage?: StorageSettings | undefined } {
  return checkedBody(newClient, body, { secret: ['storage', 'secretAccessKey'] })
}

/** Validates the settings of an own bucket. @throws Problem 400, which never contains the secret */
export function readStorage(body: unknown): StorageSettings {
  return checkedBody(storage, body, { secret: ['secretAccessKey'] })
}

/** Validates a change. Absent members stay unchanged, `null` removes. @throws Problem 400 */
export function readClientChanges(body: unknown): ClientChanges {
  const read = checkedBody(changes, body)
  if (read.name === undefined && Object.keys(read.rules ?? {}).length === 0)
    throw badParameter({ param: 'the body', expected: 'a name or a rule', received: body })
  return read
}

/** Validates the body of a rotation. @throws Problem 400 */
export function readRotation(body: unknown): { keepOldMs: number } {
  return { keepOldMs: checkedBody(rotation, body).keepOldSeconds * 1000 }
}

/** Validates the body of a new scoped secret. @throws Problem 400 */
export function readNewSecret(body: unknown): NewSecret {
  const { name, only, folder, validSeconds } = checkedBody(newSecret, body)
  return {
    name,
    scope: { ...(only ? { only } : {}), ...(folder === undefined ? {} : { folder }) },
    validMs: validSeconds === undefined ? undefined : validSeconds * 1000,
  }
}
