import {
  type Client,
  digestSecret,
  FIRST_CLIENT_ID,
  isValid,
  type KeptSecret,
  newClientId,
  newClientToken,
  newSecretToken,
} from '../core/client.ts'
import { parseFolder } from '../core/object-key.ts'
import type { ClientStore } from '../core/ports/client-store.ts'
import type { EventBus } from '../core/ports/event-bus.ts'
import { badParameter, clipped, Problem, unavailable } from '../core/problem.ts'
import { UNSEEN_CHARACTER } from '../core/relative-path.ts'
import { type Action, checkAction, type Grant, type SecretScope } from '../core/scope.ts'
import type { UrlKey } from '../core/signed-url.ts'
import { changedRules, type RuleChanges } from './client-rules.ts'
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

/** A secret that is to be made for some of what a client's own is for. */
export interface NewSecret {
  name?: string | undefined
  scope: SecretScope
  /** Milliseconds from now. */
  validMs?: number | undefined
}

/** Who may do what. */
export interface Clients {
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
   * @throws Problem 503 when nothing has been heard for too long: this process may have been frozen
   */
  admits(id: string): Promise<boolean>
  /** Adds a client with new tokens. @throws Problem 400 for a name that is none */
  create(options?: { name?: string | undefined }): Promise<NewTokens>
  /**
   * Gives a client a new secret of its own; those that it has are accepted for `keepOldMs` more at most.
   * @throws Problem 404 when there is no such client, 409 when it is being removed or its secret is the environment's
   */
  rotate(id: string, options: { keepOldMs: number }): Promise<NewTokens>
  /**
   * Gives a client one more secret, for some of what its own are for.
   * @param options `validMs`: for good without it
   * @throws Problem 400, 404 when there is no such client, 409 when it is being removed, or has 100 of them
   */
  addSecret(id: string, options: NewSecret): Promise<{ client: Client; kept: KeptSecret; secret: string }>
  /** Ends one of these. @throws Problem 404 when there is no such client or secret, 409 */
  removeSecret(id: string, secretId: string): Promise<Client>
  /**
   * Gives a client one more key to sign delivery URLs with; those that it has go on counting.
   * @throws Problem 404 when there is no such client, 409 when it is being removed, or has ten of them
   */
  addUrlKey(id: string): Promise<{ client: Client; urlKey: UrlKey }>
  /** Ends a key, and all URLs signed with it. @throws Problem 404 when there is no such client or key, 409 for the last one that is needed */
  removeUrlKey(id: string, version: number): Promise<Client>
  /**
   * Changes what may be asked of a client's files.
   * @throws Problem 400 for a rule that is none, 404 when there is no such client, 409 when it is being removed
   */
  setRules(id: string, changes: RuleChanges): Promise<Client>
  /** Makes sure that the first client has these tokens. */
  ensureFirst(tokens: Tokens): Promise<Client>
}

const NAME_MAX_BYTES = 100
// As SECRET_CLIENT_TOKEN is; those that are made here are longer.
const SECRET_MIN_LENGTH = 16
// One is looked for in them at each request.
const SECRETS_MAX = 100
// Two during a change; a few more for whoever signs in several places.
const URL_KEYS_MAX = 10

export function createClients({
  store,
  urlKeys,
  events,
  keepFirst,
  trustMs = Number.POSITIVE_INFINITY,
  now = Date.now,
}: {
  store: ClientStore
  urlKeys: UrlKeys
  events: EventBus
  /** Keeps the first client's tokens for the next start; absent when the environment has them. */
  keepFirst?: ((tokens: Tokens) => Promise<void>) | undefined
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

  /** Of one that is there to stay. @throws Problem 404, 409 */
  async function changeKnown(
    id: string,
    make: (client: Client) => Client | Promise<Client>,
  ): Promise<Client> {
    await store.refresh()
    if (!store.find(id)) throw noSuchClient(id)
    return change(id, (present) => {
      if (!present) throw noSuchClient(id)
      if (present.removing) throw refused(`${id} is being removed`)
      return make(present)
    })
  }

  return {
    urlKeys,
    authenticate(authorization, action) {
      const secret = authorization?.replace(/^Bearer +/i, '').trim()
      const found = secret ? store.findBySecret(secret) : undefined
      if (!found)
        throw unauthorized(secret === undefined ? 'but received none' : 'but the one received is not known')
      const { client, kept } = found
      const { scope = {} } = kept
      checkAction(scope, action)
      return { client, ...(scope.folder === undefined ? {} : { folder: scope.folder }) }
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
      return client
    },
    async admits(id) {
      await store.refresh({ maxAgeMs: trustMs }).catch((cause) => {
        throw unavailable(
          'nobody can tell at the moment whether this client may store files; send it again',
          {
            cause,
          },
        )
      })
      const client = store.find(id)
      return client !== undefined && !client.removing
    },
    async create({ name } = {}) {
      if (name !== undefined) checkName(name)
      const tokens = { clientToken: newClientToken(), secretClientToken: newSecretToken() }
      const id = newClientId()
      const client = await change(id, () => ({
        id,
        ...(name === undefined ? {} : { name }),
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
    async addSecret(id, { name, scope, validMs }) {
      if (name !== undefined) checkName(name)
      const folder = scope.folder === undefined ? undefined : parseFolder(scope.folder, 'folder')
      const secret = newSecretToken()
      const kept: KeptSecret = {
        id: newClientId(),
        ...(name === undefined ? {} : { name }),
        digest: digestSecret(secret),
        scope: { ...(scope.only ? { only: scope.only } : {}), ...(folder ? { folder } : {}) },
        ...(validMs === undefined ? {} : { validUntil: now() + validMs }),
      }
      const client = await changeKnown(id, (present) => {
        const secrets = present.secrets.filter((one) => isValid(one, now()))
        if (secrets.length >= SECRETS_MAX) throw refused(`${id} has ${SECRETS_MAX} secrets: remove one first`)
        return { ...present, secrets: [...secrets, kept] }
      })
      return { client, kept, secret }
    },
    removeSecret: (id, secretId) =>
      changeKnown(id, (present) => {
        const secrets = present.secrets.filter((one) => one.id !== secretId)
        if (secrets.length === present.secrets.length) throw noSuchSecret(id, secretId)
        return { ...present, secrets }
      }),
    async addUrlKey(id) {
      const client = await changeKnown(id, (present) => {
        const { active = [], last = 0 } = present.urlKeys ?? {}
        if (active.length >= URL_KEYS_MAX) throw refused(`${id} has ${URL_KEYS_MAX} keys: remove one first`)
        const version = last + 1
        return { ...present, urlKeys: { active: [...active, { version, createdAt: now() }], last: version } }
      })
      return { client, urlKey: urlKeys.make(id, client.urlKeys?.last ?? 0) }
    },
    removeUrlKey: (id, version) =>
      changeKnown(id, (present) => {
        const { active = [], last = 0 } = present.urlKeys ?? {}
        const left = active.filter((one) => one.version !== version)
        if (left.length === active.length) throw noSuchKey(id, version)
        if (left.length === 0 && present.rules?.signedUrls) throw refused(needsKey(id))
        return { ...present, urlKeys: { active: left, last } }
      }),
    setRules: (id, changes) =>
      changeKnown(id, ({ rules: present = {}, ...client }) => {
        const rules = changedRules(present, changes)
        if (rules?.signedUrls && !client.urlKeys?.active.length) throw refused(needsKey(id))
        return rules ? { ...client, rules } : client
      }),
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
function checkName(name: string): void {
  const bytes = Buffer.byteLength(name)
  if (bytes > 0 && bytes <= NAME_MAX_BYTES && name.trim() === name && !UNSEEN_CHARACTER.test(name)) return
  throw badParameter({
    param: 'name',
    expected: `1 to ${NAME_MAX_BYTES} bytes without control characters and marks of text direction, and without spaces at the ends,`,
    received: name,
  })
}

function needsKey(id: string): string {
  return `${id} takes signed URLs only, which needs a key: add one`
}

function noSuchKey(id: string, version: number): Problem {
  return new Problem({
    status: 404,
    code: 'key_not_found',
    detail: `the client ${id} has no key of version ${version}`,
  })
}

function noSuchSecret(id: string, secretId: string): Problem {
  return new Problem({
    status: 404,
    code: 'secret_not_found',
    detail: `the client ${id} has no secret with the id ${JSON.stringify(clipped(secretId))}`,
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

/** 401. `received` goes on after "expected a secret client token in the Authorization header". */
export function unauthorized(received: string): Problem {
  return new Problem({
    status: 401,
    code: 'unauthorized',
    detail: `expected a secret client token in the Authorization header ${received}`,
    headers: { 'WWW-Authenticate': 'Bearer realm="sluice"' },
  })
}
