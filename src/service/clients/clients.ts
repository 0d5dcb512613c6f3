import {
  type Client,
  digestSecret,
  FIRST_CLIENT_ID,
  isValid,
  newClientId,
  newClientToken,
  newSecretToken,
} from '../../core/clients/client.ts'
import type { Recovery } from '../../core/clients/recovery.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import type { EventBus } from '../../core/ports/event-bus.ts'
import { type ClientAccess, createClientAccess } from './access.ts'
import { clientConflict, createChangeKnown } from './change-existing.ts'
import { type ClientCredentials, createClientCredentials, needsUrlKey } from './credentials.ts'
import { checkClientName } from './name.ts'
import { changedRules, type RuleBounds, type RuleChanges } from './rules.ts'
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

/** The clients: who may do what, and what an operator changes of them. */
export interface Clients extends ClientAccess, ClientCredentials {
  readonly urlKeys: UrlKeys
  /**
   * Adds a client with new tokens.
   * @param own its id, a new one when absent, and the bucket that it has of its own
   * @throws Problem 400 for a name or rule that is none, 409 for signed URLs only: a new client has no key for them
   */
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
  /** Makes sure that the first client has these tokens, and that its record can restore them. */
  ensureFirst(tokens: Tokens): Promise<Client>
}

export function createClients({
  store,
  urlKeys,
  events,
  keepFirst,
  recovery,
  bounds,
  trustMs = Number.POSITIVE_INFINITY,
  now = Date.now,
}: {
  store: ClientStore
  urlKeys: UrlKeys
  events: EventBus
  /** Keeps the first client's tokens for the next start; absent when the environment has them. */
  keepFirst?: ((tokens: Tokens) => Promise<void>) | undefined
  /** Seals the first client's secret for its record. */
  recovery: Pick<Recovery, 'seal' | 'unseal'>
  /** Of rules. */
  bounds: RuleBounds
  /** As {@link createClientAccess} takes it; for ever when absent. */
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

  const update: Clients['update'] = (id, changes) =>
    changeKnown(id, ({ name, rules, ...client }) => {
      const present = { ...(name === undefined ? {} : { name }), ...(rules ? { rules } : {}) }
      const after = changed(present, changes, bounds)
      if (after.rules?.signedUrls && !client.urlKeys?.active.length) throw clientConflict(needsUrlKey(id))
      return { ...client, ...after }
    })

  return {
    urlKeys,
    ...createClientAccess({ store, trustMs, now }),
    ...createClientCredentials({ changeKnown, urlKeys, now }),
    async create(changes = {}, { id, storage } = { id: newClientId() }) {
      const given = changed({}, changes, bounds)
      if (given.rules?.signedUrls) throw clientConflict(needsUrlKey('a new client'))
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
            throw clientConflict(
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
        return {
          ...present,
          secrets: [{ digest: digestSecret(secretClientToken) }, ...kept],
          ...(id === FIRST_CLIENT_ID ? { recovery: recovery.seal(secretClientToken) } : {}),
        }
      })
      return { client, tokens: { clientToken: client.token, secretClientToken } }
    },
    update,
    setRules: (id, rules) => update(id, { rules }),
    async ensureFirst(tokens) {
      const secret = { digest: digestSecret(tokens.secretClientToken) }
      const hasTokens = (client: Client) =>
        client.token === tokens.clientToken &&
        client.secrets.some((one) => one.digest === secret.digest && one.validUntil === undefined)
      const isRecoverable = (client: Client) =>
        client.recovery !== undefined && recovery.unseal(client.recovery) === tokens.secretClientToken
      const isKept = (client: Client) => hasTokens(client) && isRecoverable(client)
      const known = store.find(FIRST_CLIENT_ID)
      if (known && isKept(known)) return known
      return change(FIRST_CLIENT_ID, (present) => {
        if (present && isKept(present)) return present
        return {
          ...present,
          id: FIRST_CLIENT_ID,
          token: tokens.clientToken,
          secrets: present && hasTokens(present) ? present.secrets : [secret],
          createdAt: present?.createdAt ?? now(),
          recovery: recovery.seal(tokens.secretClientToken),
        }
      })
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
