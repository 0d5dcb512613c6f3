import type { Log } from '../../../core/log.ts'
import type { VisibleClients } from '../../../core/members/member.ts'
import type { ClientStore } from '../../../core/ports/client-store.ts'
import {
  type Claims,
  type IdentityProvider,
  IdentityProviderError,
  type ProviderSecrets,
} from '../../../core/ports/members/identity-provider.ts'
import type { MemberStore } from '../../../core/ports/members/member-store.ts'
import { seal, unseal } from '../../../core/signing/seal.ts'
import type { LastSeen } from '../last-seen.ts'
import type { NewSession, Sessions } from '../sessions.ts'
import { type Admitted, admit, isSame, type PersonWithRole } from './admit.ts'
import { type OrganisationRules, type Person, personOf } from './people.ts'
import { SignInRefused } from './refusals.ts'

/** Sign-in with the identity provider of an organisation. The caller limits how often it is tried. */
export interface OrganisationSignIn {
  /** The text of the button. */
  label: string
  /**
   * Begins a sign-in. The browser stores the cookie, and goes to the URL at the provider.
   *
   * @param from the page of the console to show afterwards
   * @throws SignInRefused `unavailable`
   */
  begin(from: string): Promise<BegunSignIn>
  /**
   * The sign-in that this browser has begun, and to which the answer belongs. It asks nobody.
   *
   * @param answer the query that the browser brings back from the provider
   * @param cookie of the browser; undefined without one
   * @throws SignInRefused `expired`
   */
  begunBy(answer: URLSearchParams, cookie: string | undefined): Begun
  /** Ends a sign-in, and begins a session. @throws SignInRefused; Problem 503 */
  finish(answer: URLSearchParams, begun: Begun): Promise<FinishedSignIn>
  /** The URL at which the browser also signs out of the provider; undefined when there is none, or the provider is down. */
  signOutUrl(): Promise<string | undefined>
}

export interface BegunSignIn {
  url: string
  /** Encrypted: nothing is stored in this process, so another one can end the sign-in. */
  cookie: string
  /** Milliseconds since 1970, exclusive. */
  expiresAt: number
}

export interface FinishedSignIn {
  session: NewSession
  admission: Admitted['admission']
}

/** What the cookie has. */
export interface Begun extends ProviderSecrets {
  /** The page of the console to show afterwards. */
  from: string
  until: number
}

export interface OrganisationOptions {
  provider: IdentityProvider
  rules: OrganisationRules
  label: string
  /** The clients that a new member sees. Unknown IDs are left out. */
  newClients: VisibleClients
  clients: Pick<ClientStore, 'find'>
  store: MemberStore
  sessions: Pick<Sessions, 'begin' | 'endAll'>
  lastSeen: LastSeen
  /** 32 bytes, used only for this purpose. */
  key: Buffer
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
  log: Log
  now?: () => number
}

/** Where the provider sends the browser back to, below the public URL of the service. */
const CALLBACK_PATH = '/v1/session/oidc/callback'

// Enough to enter a password and a code of another device at the provider.
const VALID_MS = 10 * 60_000
const PLACE = 'oidc sign-in'

export function createOrganisationSignIn(options: OrganisationOptions): OrganisationSignIn {
  const { provider, rules, label, store, sessions, lastSeen, key, baseUrl, log, now = Date.now } = options
  const returnTo = `${baseUrl}${CALLBACK_PATH}`

  function refused(error: unknown): never {
    if (!(error instanceof IdentityProviderError)) throw error
    const { failure, message } = error
    log.warn(
      { issuer: provider.issuer, failure, reason: message },
      'a sign-in with OIDC_ISSUER was not confirmed',
    )
    throw new SignInRefused(failure)
  }

  async function claimsOf(answer: URLSearchParams, begun: Begun): Promise<Claims> {
    const url = new URL(returnTo)
    url.search = answer.toString()
    return provider.finish(url, begun).catch(refused)
  }

  /** A person without a role loses the sessions of an earlier one. @throws SignInRefused `role` */
  async function withRole(person: Person): Promise<PersonWithRole> {
    if (person.role !== undefined) return { ...person, role: person.role }
    await store.refresh()
    const member = store.table().members.find((one) => isSame(one, person))
    if (member) await sessions.endAll(member.id)
    const { id, name } = member ?? { id: undefined, name: person.email }
    throw new SignInRefused('role', { person: { name, ...(id === undefined ? {} : { id }) } })
  }

  function newClients(): VisibleClients {
    const { newClients: chosen, clients } = options
    return chosen === 'all' ? chosen : chosen.filter((id) => clients.find(id))
  }

  return {
    label,
    async begin(from) {
      const { url, secrets } = await provider.begin(returnTo).catch(refused)
      const until = now() + VALID_MS
      const begun: Begun = { ...secrets, from, until }
      return { url, cookie: seal(JSON.stringify(begun), { key, place: PLACE }), expiresAt: until }
    },
    begunBy(answer, cookie) {
      let begun: Begun | undefined
      try {
        begun = JSON.parse(unseal(cookie ?? '', { key, place: PLACE })) as Begun
      } catch {
        throw new SignInRefused('expired')
      }
      // Pages of other sites, and other tabs, can cause answers that belong to no sign-in of this cookie.
      if (now() >= begun.until || answer.get('state') !== begun.state) throw new SignInRefused('expired')
      return begun
    },
    async finish(answer, begun) {
      const claims = await claimsOf(answer, begun)
      const person = await withRole(personOf(claims, { issuer: provider.issuer, rules }))
      const { member, admission } = await store.change((table) =>
        admit(table, person, {
          newClients: newClients(),
          isUnverifiedAllowed: rules.isUnverifiedAllowed,
          now: now(),
        }),
      )
      lastSeen.note(member.id)
      return { session: sessions.begin(member.id), admission }
    },
    signOutUrl: () => provider.signOutUrl(`${baseUrl}/dashboard/sign-in`).catch(() => undefined),
  }
}
