import {
  type Client,
  digestSecret,
  FIRST_CLIENT_ID,
  isPaused,
  isValid,
  newClientId,
  newClientToken,
  newSecretToken,
} from '../core/client.ts'
import { isSameRoot } from '../core/client-storage.ts'
import type { ClientStore } from '../core/ports/client-store.ts'
import type { EventBus } from '../core/ports/event-bus.ts'
import { Problem, unavailable } from '../core/problem.ts'
import { type Action, checkAction, type Grant } from '../core/scope.ts'
import { type ClientCredentials, createClientCredentials, needsUrlKey } from './client-credentials.ts'
import { checkClientName } from './client-name.ts'
import { changedRules, type RuleBounds, type RuleChanges } from './client-rules.ts'
import { createChangeKnown, refused } from './known-client.ts'
import type { UrlKeys } from './url-keys.ts'

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

/** What an operator says of a client: what is absent stays as it is, `null` for the name ends it. */
export interface ClientChanges {
  name?: string | null | undefined
  rules?: RuleChanges | undefined
}

/** Who may do what. */
export interface Clients extends ClientCredentials {
  readonly urlKeys: UrlKeys
  /**
   * What an `Authorization` header, `<secret>` or `Bearer <secret>`, lets its sender do.
   * @throws Problem 401, 403 for a secret that is not for this action
   */
  authenticate(authorization: string | undefined, action: Action): Grant
  /** Whether a text is somebody's secret token. */
  isSecret(text: string): boolean
  /** The client of a delivery URL. @throws Problem 404 */
  ofToken(token: string): Client
  /**
   * Whether it may still store files: it exists, and is not being removed, by what is heard of other processes.
   * @param client as it was when they began to come
   * @throws Problem 503 when its root is another one by now; and when nothing has been heard for too long: this process
   *   may have been frozen
   */
  admits(client: Pick<Client, 'id' | 'storage'>): Promise<boolean>
  /** Adds a client with new tokens. @throws Problem 400 for a name or rule that is none */
  create(options?: ClientChanges, own?: Pick<Client, 'id' | 'storage'>): Promise<NewTokens>
  /**
   * Gives a client a new secret of its own; those that it has are accepted for `keepOldMs` more at most.
   * @throws Problem 404 when there is no such client, 409 when it is being removed or its secret is the environment's
   */
  rotate(id: string, options: { keepOldMs: number }): Promise<NewTokens>
  /**
   * Changes a client's name, and what it may do and what may be asked of its files.
   * @throws Problem 400 for a name or rule that is none, 404 when there is no such client, 409 when it is being removed, or
   *   has no key for the signed URLs that it is to have
   */
  update(id: string, changes: ClientChanges): Promise<Client>
  /** The same of rules alone. */
  setRules(id: string, changes: RuleChanges): Promise<Client>
  /** Makes sure that the first client has these tokens. */
  ensureFirst(tokens: Tokens): Promise<Client>
}

// As SECRET_CLIENT_TOKEN is; those that are made here are longer.
const SECRET_MIN_LENGTH = 16

export function createClients({
  store,
  urlKeys,
  events,
  keepFirst,
  bounds,
  trustMs = Number.POSITIVE_INFINITY,
  now = Date.now,
}: {
  store: ClientStore
  urlKeys: UrlKeys
  events: EventBus
  /** Keeps the first client's tokens for the next start; absent when the environment has them. */
  keepFirst?: ((tokens: Tokens) => Promise<void>) | undefined
  /** Of rules. */
  bounds: RuleBounds
  /** How long what was heard of other processes' changes is good for: no longer than a removal waits for all to hear. */
  trustMs?: number
  now?: () => number
}): Clients {
  async function change(
    id: string,
    make: (client: Client | undefined) => Client | Promise<Client>,
  ): Promise<Client> {
    const client = await store.change(id, make)
    events.emit('client.changed', { clientId: id })
    return client
  }

  const changeKnown = createChangeKnown({ store, events })

  /** @throws Problem 503 while it moves to another bucket */
  function admitted(client: Client): Client {
    if (isPaused(client, now())) throw isMoving()
    return client
  }

  const update: Clients['update'] = (id, changes) =>
    changeKnown(id, ({ name, rules, ...client }) => {
      const present = { ...(name === undefined ? {} : { name }), ...(rules ? { rules } : {}) }
      const after = changed(present, changes, bounds)
      if (after.rules?.signedUrls && !client.urlKeys?.active.length) throw refused(needsUrlKey(id))
      return { ...client, ...after }
    })

  return {
    urlKeys,
    authenticate(authorization, action) {
      const secret = authorization?.replace(/^Bearer +/i, '').trim()
      const found = secret ? store.findBySecret(secret) : undefined
      if (!found)
        throw unauthorized(secret === undefined ? 'but received none' : 'but the one received is not known')
      const { client, kept } = found
      admitted(client)
      const { scope = {}, validUntil: until } = kept
      checkAction(scope, action)
      return {
        client,
        ...(scope.folder === undefined ? {} : { folder: scope.folder }),
        ...(until === undefined ? {} : { until }),
      }
    },
    isSecret(text) {
      // Of every word of every path that is logged, and a digest is not for nothing.
      return text.length >= SECRET_MIN_LENGTH && store.findBySecret(text) !== undefined
    },
    ofToken(token) {
      const client = store.findByToken(token)
      if (!client)
        throw new Problem({
          status: 404,
          code: 'client_not_found',
          detail: 'there is no client with this token',
        })
      return admitted(client)
    },
    async admits({ id, storage }) {
      await store.refresh({ maxAgeMs: trustMs }).catch((cause) => {
        throw unavailable(
          'nobody can tell at the moment whether this client may store files; send it again',
          {
            cause,
          },
        )
      })
      const client = store.find(id)
      if (!client || client.removing) return false
      // It began to send them to where nobody would look for them.
      if (isPaused(client, now()) || !isSameRoot(client.storage, storage)) throw isMoving()
      return true
    },
    async create(changes = {}, { id, storage } = { id: newClientId() }) {
      const given = changed({}, changes, bounds)
      if (given.rules?.signedUrls) throw refused(needsUrlKey('a new client'))
      const tokens = { clientToken: newClientToken(), secretClientToken: newSecretToken() }
      const client = await change(id, () => ({
        id,
        ...given,
        ...(storage ? { storage } : {}),
        token: tokens.clientToken,
        secrets: [{ digest: digestSecret(tokens.secretClientToken) }],
        createdAt: now(),
      }))
      return { client, tokens }
    },
    async rotate(id, { keepOldMs }) {
      const secretClientToken = newSecretToken()
      const client = await changeKnown(id, async (present) => {
        // First for the next start: were it the other way round, a crash in between would end the old secret one day
        // without anybody having the new one.
        if (id === FIRST_CLIENT_ID) {
          if (!keepFirst)
            throw refused(
              "the first client's secret is set by SECRET_CLIENT_TOKEN: change it there and restart the service",
            )
          await keepFirst({ clientToken: present.token, secretClientToken })
        }
        const until = now() + keepOldMs
        const kept = present.secrets
          .map((secret) =>
            // Those with a scope were given to others: each goes on until it is taken back by itself.
            secret.scope ? secret : { ...secret, validUntil: Math.min(secret.validUntil ?? until, until) },
          )
          .filter((secret) => isValid(secret, now()))
        return { ...present, secrets: [{ digest: digestSecret(secretClientToken) }, ...kept] }
      })
      return { client, tokens: { clientToken: client.token, secretClientToken } }
    },
    ...createClientCredentials({ changeKnown, urlKeys, now }),
    update,
    setRules: (id, rules) => update(id, { rules }),
    async ensureFirst(tokens) {
      const secret = { digest: digestSecret(tokens.secretClientToken) }
      const isKept = (client: Client) =>
        client.token === tokens.clientToken &&
        client.secrets.some((one) => one.digest === secret.digest && one.validUntil === undefined)
      const known = store.find(FIRST_CLIENT_ID)
      if (known && isKept(known)) return known
      return change(FIRST_CLIENT_ID, (present) =>
        present && isKept(present)
          ? present
          : {
              ...present,
              id: FIRST_CLIENT_ID,
              token: tokens.clientToken,
              secrets: [secret],
              createdAt: present?.createdAt ?? now(),
            },
      )
    },
  }
}

/** @throws Problem 400 */
function changed(
  present: Pick<Client, 'name' | 'rules'>,
  changes: ClientChanges,
  bounds: RuleBounds,
): Pick<Client, 'name' | 'rules'> {
  const name = changes.name === undefined ? present.name : (changes.name ?? undefined)
  if (name !== undefined) checkClientName(name)
  const rules = changedRules(present.rules ?? {}, changes.rules ?? {}, bounds)
  return { ...(name === undefined ? {} : { name }), ...(rules ? { rules } : {}) }
}

function isMoving(): Problem {
  return unavailable('the files of this client are moving to another bucket; try again in a few seconds')
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
