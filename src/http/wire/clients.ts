import { z } from 'zod'
import { STORED_RULES } from '../../core/clients/rules/schemas.ts'
import { instant } from './record.ts'

const scope = {
  only: z.enum(['upload', 'read']).describe('Uploads only, or reading only.').optional(),
  folder: z.string().describe('This folder only, with its subfolders.').optional(),
}

/** A scoped secret without its token. */
export const scopedSecret = z
  .object({
    id: z.string().describe('ID of the secret.'),
    name: z.string().describe('Name that the operator has set.').optional(),
    ...scope,
    until: instant('When the secret expires. Absent: it never expires.').optional(),
  })
  .describe('A scoped secret.')

const secretToken = z.string().describe('Secret token. It is only in this response.')

/** A new scoped secret. */
export const newScopedSecret = z
  .object({ ...scopedSecret.shape, secretClientToken: secretToken })
  .describe('A new scoped secret.')

/** The own bucket of a client, without the secret access key. */
export const clientStorage = z
  .object({
    endpoint: z.string().describe('Scheme, host and port of the store.'),
    region: z.string(),
    bucket: z.string(),
    prefix: z.string().describe('Prefix of all object names: empty, or folders with a slash at the end.'),
    forcePathStyle: z.boolean().describe('Whether the bucket is named in the path instead of the host name.'),
    accessKeyId: z.string(),
    publicUrl: z.string().describe("Public base URL of the objects, if not the store's.").optional(),
  })
  .describe('The own bucket of a client.')

/** The outcome of a test of a bucket. */
export const testedStorage = z
  .object({ ms: z.int().describe('Duration of the test in milliseconds.') })
  .describe('The bucket can be used.')

/** The rules of a client. */
export const clientRules = z
  .object(STORED_RULES)
  .describe('The rules of a client. Defaults apply for absent rules.')

/** A client as an operator sees it. */
export const client = z
  .object({
    id: z.string().describe('ID of the client.'),
    name: z.string().describe('Name that the operator has set.').optional(),
    clientToken: z.string().describe('Public token of the client, part of its URLs.'),
    createdAt: instant('When the client was created.'),
    state: z.enum(['active', 'removing']).describe('`removing` while the client is deleted.'),
    rules: clientRules.optional(),
    urlKeys: z.array(z.int()).describe('Versions of the active keys for signed URLs.').optional(),
    storage: clientStorage.optional(),
    oldSecretUntil: instant('When the last of the replaced secrets expires.').optional(),
    secrets: z.array(scopedSecret).optional(),
  })
  .describe('A client.')

export const clients = z.array(client).describe('The first client, then the others by age.')

/** A client with a new secret. */
export const clientWithSecret = z
  .object({ ...client.shape, secretClientToken: secretToken })
  .describe('A client and its new secret.')

/** A client with a new URL key. */
export const clientWithUrlKey = z
  .object({
    ...client.shape,
    urlKey: z.object({
      version: z.int().describe('Version of the key.'),
      key: z.string().describe('Key that signs URLs. It is only in this response.'),
    }),
  })
  .describe('A client and its new key for signed URLs.')

/** The response to the deletion of a client. */
export const removedClient = z
  .object({ originals: z.int().describe('Number of originals that were deleted.') })
  .describe('The deleted client.')

/** The token of a signed-in operator. */
export const adminSession = z
  .object({
    token: z.string().describe('Bearer token for the endpoints of clients.'),
    expiresAt: instant('When the token expires.'),
  })
  .describe('A session of the operator.')

export type AdminSession = z.input<typeof adminSession>
