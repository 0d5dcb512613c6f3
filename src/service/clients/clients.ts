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
import { changedRules } from '../../core/clients/rules/change.ts'
import type { RuleBounds } from '../../core/clients/rules/rule.ts'
import type { RuleChanges } from '../../core/clients/rules/table.ts'
import { usesSignedUrls } from '../../core/clients/signed-delivery.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import type { EventBus } from '../../core/ports/event-bus.ts'
import { type ClientAccess, createClientAccess } from './access.ts'
import { clientConflict, createChangeKnown, emitChanged } from './change-existing.ts'
import { type ClientCredentials, createClientCredentials, needsUrlKey } from './credentials.ts'
import { checkClientName } from './name.ts'
import { createSavedPresets, type SavedPresets } from './saved-presets.ts'
import type { UrlKeys } from './url-keys.ts'

/** The tokens of a client in plain text. They are only available when they are created. */
export interface Tokens {
  clientToken: string
  secretClientToken: string
}

/** A client and its new tokens. The secret is not available later. */
export interface NewTokens {
  client: Client
  tokens: Tokens
}

/** A change by an operator. Absent members stay unchanged. A `null` name removes the name. */
export interface ClientChanges {
  name?: string | null | undefined
  rules?: RuleChanges | undefined
}

/** All clients: their authentication, and their changes by an operator. */
export interface Clients extends ClientAccess, ClientCredentials, SavedPresets {
  readonly urlKeys: UrlKeys
  /**
   * Adds a client with new tokens.
   * @param own its ID, by default a new one, and its own bucket
   * @throws Problem 400 for an invalid name or rule, 409 for `signedUrls` and `privateFolders`: a new client has no key for them
   */
  create(options?: ClientChanges, own?: Pick<Client, 'id' | 'storage'>): Promise<NewTokens>
  /**
   * Gives a client a new unscoped secret. The current ones remain valid for at most `keepOldMs`.
   * @throws Problem 404 when the client does not exist, 409 when it is being removed or its secret is set in the
   *   environment
   */
  rotate(id: string, options: { keepOldMs: number }): Promise<NewTokens>
  /**
   * Changes the name and the rules of a client.
   * @throws Problem 400 for an invalid name or rule, 404 when the client does not exist, 409 when it is being removed,
   *   or when `signedUrls` or `privateFolders` is set and the client has no key for them
   */
  update(id: string, changes: ClientChanges): Promise<Client>
  /** As `update`, for rules only. */
  setRules(id: string, changes: RuleChanges): Promise<Client>
  /** Sets the tokens of the first client, and stores its secret sealed in its record, for recovery. */
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
  /** Stores the tokens of the first client for the next start. Absent when the environment sets them. */
  keepFirst?: ((tokens: Tokens) => Promise<void>) | undefined
  /** Seals the secret of the first client for its record. */
  recovery: Pick<Recovery, 'seal' | 'unseal'>
  /** Limits of the rules of clients. */
  bounds: RuleBounds
  /** As in {@link createClientAccess}. Default: unlimited. */
  trustMs?: number
  now?: () => number
}): Clients {
  async function change(
    id: string,
    make: (client: Client | undefined) => Client | Promise<Client>,
  ): Promise<Client> {
    let before: Client | undefined
    const after = await store.change(id, (present) => {
      before = present
      return make(present)
    })
    emitChanged(events, { before, after })
    return after
  }

  const changeKnown = createChangeKnown({ store, events })

  const update: Clients['update'] = (id, changes) =>
    changeKnown(id, ({ name, rules, ...client }) => {
      const present = { ...(name === undefined ? {} : { name }), ...(rules ? { rules } : {}) }
      const after = changed(present, changes, bounds)
      if (usesSignedUrls(after.rules) && !client.urlKeys?.active.length) throw clientConflict(needsUrlKey(id))
      return { ...client, ...after }
    })

  return {
    urlKeys,
    ...createClientAccess({ store, trustMs, now }),
    ...createClientCredentials({ changeKnown, urlKeys, now }),
    ...createSavedPresets({ changeKnown, bounds }),
    async create(changes = {}, { id, storage } = { id: newClientId() }) {
      const given = changed({}, changes, bounds)
      if (usesSignedUrls(given.rules)) throw clientConflict(needsUrlKey('a new client'))
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
        // Store it for the next start before the change. In the opposite order, a crash in between could invalidate the
        // old secret while no file has the new one.
        if (id === FIRST_CLIENT_ID) {
          if (!keepFirst)
            throw clientConflict(
              "the first client's secret is set by SECRET_CLIENT_TOKEN: change it there and restart the service",
            )
          await keepFirst({ clientToken: present.token, secretClientToken })
        }
        const until = now() + keepOldMs
        const others = present.secrets
          .map((secret) =>
            // Scoped secrets were given to others. Each remains valid until it is removed.
            secret.scope ? secret : { ...secret, validUntil: Math.min(secret.validUntil ?? until, until) },
          )
          .filter((secret) => isValid(secret, now()))
        return {
          ...present,
          secrets: [{ digest: digestSecret(secretClientToken) }, ...others],
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
      const isUsable = (client: Client) => hasTokens(client) && isRecoverable(client)
      const known = store.find(FIRST_CLIENT_ID)
      if (known && isUsable(known)) return known
      return change(FIRST_CLIENT_ID, (present) => {
        if (present && isUsable(present)) return present
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

/** Applies a change to name and rules. @throws Problem 400 for an invalid name or rule */
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
