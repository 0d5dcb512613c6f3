import { z } from 'zod'
import { boundedInteger } from '../../core/bounded-schemas.ts'
import { ruleChanges } from '../../core/clients/rules/schemas.ts'
import { RULE_NAMES } from '../../core/clients/rules/table.ts'
import { GIVEN_SETTINGS, SETTING_NAMES, type StorageSettings } from '../../core/clients/storage-settings.ts'
import { badParameter } from '../../core/problem.ts'
import { listed } from '../../core/text/listed.ts'
import type { ClientChanges } from '../../service/clients/clients.ts'
import type { NewSecret } from '../../service/clients/credentials.ts'
import { checkedBody } from '../body/parse.ts'

const MAX_SECONDS = 365 * 86_400
const seconds = (min: number) => boundedInteger({ min, max: MAX_SECONDS })

// In JSON, `null` removes a rule. The service uses `false` for this.
const REMOVE = z.null().transform(() => false as const)
const rules = z
  .strictObject(ruleChanges(REMOVE), `an object of ${listed(RULE_NAMES)}`)
  .describe('Rules to change. Absent rules stay unchanged, `null` removes a rule.')
/** The settings of an own bucket. */
export const storage = z.strictObject(GIVEN_SETTINGS, `an object of ${listed(SETTING_NAMES)}`)
/** A new client. */
export const newClient = z.strictObject(
  {
    name: z.string('a string').describe('Name for people.').optional(),
    rules: rules.optional(),
    storage: storage
      .describe('Own bucket of the client. Later it can be set only while the client has no files.')
      .optional(),
  },
  'an object of name, rules and storage',
)
/** A change of a client. */
export const changes = z.strictObject(
  {
    name: z
      .union([z.string(), z.null()], 'a string or null')
      .describe('Name for people. `null` removes it.')
      .optional(),
    rules: rules.optional(),
  },
  'an object of name and rules',
)
/** The body of a rotation. */
export const rotation = z.strictObject(
  {
    keepOldSeconds: seconds(0)
      .describe('How long the current secrets remain valid, in seconds.')
      .default(86_400),
  },
  'an object of keepOldSeconds',
)
/** A new scoped secret. */
export const newSecret = z.strictObject(
  {
    name: z.string('a string').describe('Name for people.').optional(),
    only: z.enum(['upload', 'read'], 'upload or read').describe('Uploads only, or reading only.').optional(),
    folder: z.string('a string').describe('This folder only, with its subfolders.').optional(),
    validSeconds: seconds(1).describe('When the secret expires, in seconds. Default: never.').optional(),
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
