import { z } from 'zod'
import { STORED_RULES } from '../../core/clients/rules/schemas.ts'
import type { ManagedClients } from '../../service/admin/clients.ts'
import type { Example, ProblemName } from '../documents/endpoint.ts'
import { EXAMPLE } from '../documents/examples.ts'
import { json } from '../endpoint/endpoint.ts'
import { named, replyOf } from '../endpoint/named.ts'
import { instant } from '../wire/instant.ts'

/** The services of the endpoints for clients. */
export interface ClientServices {
  managedClients: ManagedClients
}

/** The bodies: 100 presets of 20 parameters each. */
export const CLIENT_MAX_BYTES = 256 * 1024

export const secretToken = z.string().describe('Secret token. It is only in this response.')

export const scopedSecret = replyOf('ScopedSecret', 'A scoped secret.', {
  id: z.string().describe('ID of the secret.'),
  name: z.string().describe('Name that the operator has set.').optional(),
  only: z.enum(['upload', 'read']).describe('Uploads only, or reading only.').optional(),
  folder: z.string().describe('This folder only, with its subfolders.').optional(),
  until: instant('When the secret expires. Absent: it never expires.').optional(),
})

const clientStorage = replyOf('ClientStorage', 'The own bucket of a client.', {
  endpoint: z.string().describe('Scheme, host and port of the store.'),
  region: z.string(),
  bucket: z.string(),
  prefix: z.string().describe('Prefix of all object names: empty, or folders with a slash at the end.'),
  forcePathStyle: z.boolean().describe('Whether the bucket is named in the path instead of the host name.'),
  accessKeyId: z.string(),
  publicUrl: z.string().describe("Public base URL of the objects, if not the store's.").optional(),
})

const clientRules = named(
  'ClientRules',
  z.object(STORED_RULES).describe('The rules of a client. Defaults apply for absent rules.'),
)

/** A client as an operator sees it. */
export const client = replyOf('Client', 'A client.', {
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

const clientWithSecret = replyOf('ClientWithSecret', 'A client and its new secret.', {
  ...client.shape,
  secretClientToken: secretToken,
})

export const ONE_CLIENT = { 200: json(client, 'The client.') }
export const WITH_SECRET = {
  200: json(clientWithSecret, 'The client and its new secret, which is only in this response.'),
}
export const OF_ONE_CLIENT: readonly ProblemName[] = [
  '400 bad_parameter',
  '404 client_not_found',
  '409 client_conflict',
]

export const CLIENT_ID = { id: EXAMPLE.clientId }
export const EXAMPLE_CLIENT = {
  id: EXAMPLE.clientId,
  name: 'Shop',
  clientToken: EXAMPLE.token,
  createdAt: '2026-11-30T12:00:00.000Z',
  state: 'active',
}

/** An example with the client as its response. */
export function shownClient(summary: string, parameters: Readonly<Record<string, string>> = {}): Example {
  return {
    id: 'shop',
    summary,
    parameters: { ...CLIENT_ID, ...parameters },
    status: 200,
    response: EXAMPLE_CLIENT,
  }
}
