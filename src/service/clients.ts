import {
  type Client,
  digestSecret,
  FIRST_CLIENT_ID,
  isValid,
  newClientId,
  newClientToken,
  newSecretToken,
} from '../core/client.ts'
import type { ClientStore } from '../core/ports/client-store.ts'
import type { EventBus } from '../core/ports/event-bus.ts'
import { badParameter, Problem } from '../core/problem.ts'
import { CONTROL_CHARACTERS } from '../core/relative-path.ts'

/** A client's tokens in the clear: seen once, when they are made. */
export interface Tokens {
  clientToken: string
  secretClientToken: string
}

/** A client and its tokens: the only time that the secret is seen. */
export interface NewTokens {
  client: Client
  tokens: Tokens
}

/** Who may do what. */
export interface Clients {
  /** The client of an `Authorization` header: `<secret>` or `Bearer <secret>`. @throws Problem 401 */
  authenticate(authorization: string | undefined): Client
  /** Whether a text, percent-encoded or not, is somebody's secret token. */
  isSecret(text: string): boolean
  /** The client of a delivery URL. @throws Problem 404 */
  ofToken(token: string): Client
  /** Whether it exists, and is not being removed. */
  admits(id: string): boolean
  /** Adds a client with new tokens. @throws Problem 400 for a name that is none */
  create(options?: { name?: string | undefined }): Promise<NewTokens>
  /**
   * Gives a client a new secret; those that it has are accepted for `keepOldMs` more at most.
   * @throws Problem 404 when there is no such client, 409 when it is being removed or its secret is the environment's
   */
  rotate(id: string, options: { keepOldMs: number }): Promise<NewTokens>
  /** Makes sure that the first client has these tokens. */
  ensureFirst(tokens: Tokens): Promise<Client>
}

const NAME_MAX_BYTES = 100

export function createClients({
  store,
  events,
  keepFirst,
  now = Date.now,
}: {
  store: ClientStore
  events: EventBus
  /** Keeps the first client's tokens for the next start; absent when the environment has them. */
  keepFirst?: ((tokens: Tokens) => Promise<void>) | undefined
  now?: () => number
}): Clients {
  async function save(client: Client): Promise<Client> {
    await store.save(client)
    events.emit('client.changed', { clientId: client.id })
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
    admits(id) {
      const client = store.find(id)
      return client !== undefined && !client.removing
    },
    async create({ name } = {}) {
      if (name !== undefined) checkName(name)
      const tokens = { clientToken: newClientToken(), secretClientToken: newSecretToken() }
      const client = await save({
        id: newClientId(),
        ...(name === undefined ? {} : { name }),
        token: tokens.clientToken,
        secrets: [{ digest: digestSecret(tokens.secretClientToken) }],
        createdAt: now(),
      })
      return { client, tokens }
    },
    async rotate(id, { keepOldMs }) {
      await store.refresh()
      const client = store.find(id)
      if (!client) throw noSuchClient(id)
      if (client.removing) throw refused(`${id} is being removed`)
      const tokens = { clientToken: client.token, secretClientToken: newSecretToken() }
      // First for the next start: were it the other way round, a crash in between would end the old secret one day
      // without anybody having the new one.
      if (id === FIRST_CLIENT_ID) {
        if (!keepFirst)
          throw refused(
            "the first client's secret is set by SECRET_CLIENT_TOKEN: change it there and restart the service",
          )
        await keepFirst(tokens)
      }
      const until = now() + keepOldMs
      const old = client.secrets
        .map((secret) => ({ ...secret, validUntil: Math.min(secret.validUntil ?? until, until) }))
        .filter((secret) => isValid(secret, now()))
      const secrets = [{ digest: digestSecret(tokens.secretClientToken) }, ...old]
      return { client: await save({ ...client, secrets }), tokens }
    },
    async ensureFirst(tokens) {
      const known = store.find(FIRST_CLIENT_ID)
      const secret = { digest: digestSecret(tokens.secretClientToken) }
      const isKept = known?.secrets.some(
        (one) => one.digest === secret.digest && one.validUntil === undefined,
      )
      if (isKept && known?.token === tokens.clientToken) return known
      return save({
        ...known,
        id: FIRST_CLIENT_ID,
        token: tokens.clientToken,
        secrets: [secret],
        createdAt: known?.createdAt ?? now(),
      })
    },
  }
}

/** @throws Problem 400 */
function checkName(name: string): void {
  const bytes = Buffer.byteLength(name)
  if (bytes > 0 && bytes <= NAME_MAX_BYTES && name.trim() === name && !CONTROL_CHARACTERS.test(name)) return
  throw badParameter({
    param: 'name',
    expected: `1 to ${NAME_MAX_BYTES} bytes without control characters, and without spaces at the ends,`,
    received: name,
  })
}

/** 404, for the operator. */
export function noSuchClient(id: string): Problem {
  return new Problem({
    status: 404,
    code: 'client_not_found',
    detail: `there is no client with the id ${JSON.stringify(id)}`,
  })
}

/** 409: what a client is not for. */
export function refused(detail: string): Problem {
  return new Problem({ status: 409, code: 'client_conflict', detail })
}

/** As it is, where it is not valid percent-encoding. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** 401. `received` goes on after "expected a secret client token in the Authorization header". */
export function unauthorized(received: string): Problem {
  return new Problem({
    status: 401,
    code: 'unauthorized',
    detail: `expected a secret client token in the Authorization header ${received}`,
    headers: { 'WWW-Authenticate': 'Bearer realm="sluice"' },
  })
}
