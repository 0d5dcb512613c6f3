import { createClient, type SluiceClient, sessionHeaders } from '../../../client/index.ts'
import { serviceUrl } from './base.ts'
import { waitForSignIn } from './sign-in-gate.ts'

const created = new Map<string, SluiceClient>()

/** The client library, with the session of the member. With an id, its calls act for this client. */
export function libraryFor(clientId = ''): SluiceClient {
  const existing = created.get(clientId)
  if (existing) return existing
  const session = { ...(clientId && { clientId }), onSignedOut: waitForSignIn }
  const library = createClient({ baseUrl: serviceUrl, session })
  created.set(clientId, library)
  return library
}

/** The client library without a client, for sessions, members, clients and the whole installation. */
export const installation: SluiceClient = libraryFor()

/** The headers of requests that the client library does not send. They need `waitForSignIn` after a 401. */
export function headersFor(clientId: string): Record<string, string> {
  return sessionHeaders({ clientId })
}
