import type { Config } from '../../../config/load.ts'
import { bucketMemberStore } from '../../adapters/member-store/bucket.ts'
import { simpleWebAuthn } from '../../adapters/passkey-verifier/simplewebauthn.ts'
import { throttled } from '../../core/async/throttle-log.ts'
import type { Log } from '../../core/log.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import type { AppKeys } from '../../core/signing/derive-key.ts'
import { createAuditTrail } from '../../service/admin/audit.ts'
import { byAge } from '../../service/admin/clients.ts'
import { createKnownAddresses } from '../../service/admin/known-addresses.ts'
import { createAdminSessions } from '../../service/admin/sessions.ts'
import { createLastSeen } from '../../service/members/last-seen.ts'
import { createMemberLinks, isSetUp } from '../../service/members/links.ts'
import { createMembers } from '../../service/members/members.ts'
import { createChallenges } from '../../service/members/passkeys/challenges.ts'
import { createOwnPasskeys } from '../../service/members/passkeys/own-passkeys.ts'
import { createPasskeySignIn } from '../../service/members/passkeys/passkey-sign-in.ts'
import { createRefuseAnswer } from '../../service/members/passkeys/refuse-answer.ts'
import { createPasswords, type PasswordCost } from '../../service/members/passwords.ts'
import { createSessions } from '../../service/members/sessions.ts'
import { createSignIn } from '../../service/members/sign-in.ts'
import { createSignInLinks } from '../../service/members/sign-in-link.ts'
import type { Backends } from '../storage/backends.ts'
import { openOrganisation } from './organisation.ts'

export interface MembersOptions {
  config: Config
  /** The URL of this process for clients, without a trailing slash. */
  baseUrl: string
  backends: Backends
  /** The first client's. */
  bucket: Bucket
  clients: ClientStore
  keys: AppKeys
  log: Log
  /** Of the digests of passwords. Tests set less than the default. */
  passwordCost?: PasswordCost
}

/** Opens the members of the console, their sessions and links. */
export async function openMembers({
  config,
  baseUrl,
  backends,
  bucket,
  clients,
  keys,
  log,
  passwordCost,
}: MembersOptions) {
  const { memberChanges, locks, ledger } = backends
  const store = await bucketMemberStore(bucket, {
    key: keys('members'),
    log,
    shared: memberChanges && { changes: memberChanges, locks },
  })
  const { ADMIN_PASSWORD: operatorPassword, OIDC_ISSUER: issuer } = config
  const adminSessions = createAdminSessions({ password: operatorPassword, key: keys('admin session') })
  const sessions = createSessions({
    store,
    key: keys('member sessions'),
    operatorPassword,
    issuer,
    organisationMs: config.OIDC_SESSION_HOURS * 3_600_000,
  })
  const links = createMemberLinks({ key: keys('member links') })
  const lastSeen = createLastSeen({ ledger, log })
  const audit = createAuditTrail({ store: backends.audit, log })
  const signInLinks = createSignInLinks({ store, links, audit, baseUrl, issuer })
  const passwords = createPasswords(passwordCost ? { cost: passwordCost } : {})
  const challenges = createChallenges({
    origin: config.BASE_URL && new URL(config.BASE_URL).origin,
    key: keys('passkey challenges'),
    ledger,
  })
  const ofPasskeys = {
    ...{ store, sessions, lastSeen, challenges },
    verifier: simpleWebAuthn(),
    refuse: createRefuseAnswer(log),
  }
  const warnUpdates = throttled((err) =>
    log.warn({ err }, 'member updates unavailable; using the cached state'),
  )
  return {
    /** What the HTTP layer uses. */
    http: {
      adminSessions,
      knownAddresses: createKnownAddresses({ ledger, log }),
      sessions,
      signIn: createSignIn({
        store,
        sessions,
        links,
        passwords,
        adminSessions,
        challenges,
        lastSeen,
      }),
      ownPasskeys: createOwnPasskeys(ofPasskeys),
      passkeySignIn: createPasskeySignIn(ofPasskeys),
      members: createMembers({ store, clients, links, lastSeen, issuer }),
      lastSeen,
      audit,
      organisation: openOrganisation({ config, baseUrl, clients, store, sessions, lastSeen, keys, log }),
      isSetUp: () => isSetUp(store.table()),
      listClients: () => [...clients.list()].sort(byAge),
    },
    /** The link for the first visit. Undefined when it is not needed: a person can sign in. */
    firstVisit: () => (operatorPassword === undefined ? signInLinks.firstVisit() : undefined),
    commands: signInLinks.commands,
    /** Reads the changes of other processes. Never throws. */
    follow: () => store.refresh().catch(warnUpdates),
  }
}
