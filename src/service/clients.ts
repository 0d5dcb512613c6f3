import {
  type Client,
  digestSecret,
  FIRST_CLIENT_ID,
  newClientId,
  newClientToken,
  newSecretToken,
} from '../core/client.ts'
import type { ClientStore } from '../core/ports/client-store.ts'
import type { EventBus } from '../core/ports/event-bus.ts'
import { Problem } from '../core/problem.ts'

/** A client's tokens in the clear: seen once, when they are made. */
export interface Tokens {
  clientToken: string
  secretClientToken: string
}

/** Who may do what. */
export interface Clients {
  /** The client of an `Authorization` header: `<secret>` or `Bearer <secret>`. @throws Problem 401 */
  authenticate(authorization: string | undefined): Client
  /** Whether a text, percent-encoded or not, is somebody's secret token. */
  isSecret(text: string): boolean
  /** The client of a delivery URL. @throws Problem 404 */
  ofToken(token: string): Client
  /** Adds a client with new tokens. */
  create(): Promise<{ client: Client; tokens: Tokens }>
  /** Makes sure that the first client has these tokens. */
  ensureFirst(tokens: Tokens): Promise<Client>
}

export function createClients({
  store,
  events,
  now = Date.now,
}: {
  store: ClientStore
  events: EventBus
  now?: () => number
}): Clients {
  async function save(
    id: string,
    { clientToken, secretClientToken }: Tokens,
    createdAt: number,
  ): Promise<Client> {
    const client: Client = {
      id,
      token: clientToken,
      secretDigests: [digestSecret(secretClientToken)],
      createdAt,
    }
    await store.save(client)
    events.emit('client.changed', { clientId: id })
    return client
  }

  return {
    authenticate(authorization) {
      const secret = authorization?.replace(/^Bearer +/i, '').trim()
      const client = secret ? store.findBySecret(secret) : undefined
      if (!client)
        throw unauthorized(secret === undefined ? 'but received none' : 'but the one received is not known')
      return client
    },
    isSecret(text) {
      return [text, decoded(text)].some((secret) => store.findBySecret(secret) !== undefined)
    },
    ofToken(token) {
      const client = store.findByToken(token)
      if (!client)
        throw new Problem({
          status: 404,
          code: 'client_not_found',
          detail: 'there is no client with this token',
        })
      return client
    },
    async create() {
      const tokens = { clientToken: newClientToken(), secretClientToken: newSecretToken() }
      return { client: await save(newClientId(), tokens, now()), tokens }
    },
    async ensureFirst(tokens) {
      const known = store.find(FIRST_CLIENT_ID)
      if (
        known?.token === tokens.clientToken &&
        known.secretDigests.includes(digestSecret(tokens.secretClientToken))
      )
        return known
      return save(FIRST_CLIENT_ID, tokens, known?.createdAt ?? now())
    },
  }
}

/** As it is, where it is not valid percent-encoding. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function unauthorized(received: string): Problem {
  return new Problem({
    status: 401,
    code: 'unauthorized',
    detail: `expected a secret client token in the Authorization header ${received}`,
    headers: { 'WWW-Authenticate': 'Bearer realm="sluice"' },
  })
}
