import { isCidr } from '../src/core/net/ip-ranges.ts'
import { integer, listOf, oneOf, text, type Variable } from './variable.ts'

/** A value of the role claim, and the role of the console that it grants. `*`: each person of the issuer. */
export interface RoleRule {
  value: string
  role: 'viewer' | 'editor' | 'owner'
}

// Addresses are compared as IPv4 whenever they have an IPv4 form.
const ranges = {
  item: (value: string) => isCidr(value) && !/^::ffff:/i.test(value),
  expected: 'IP ranges like 203.0.113.0/24 or 2001:db8::/32, separated by spaces or commas',
}

/** The variables about people who sign in: the password of the operator, the OpenID Connect issuer and the IP addresses of an organisation. */
export const SIGN_IN_VARIABLES = {
  ADMIN_PASSWORD: text({
    pattern: /^.{12,256}$/,
    expected: '12 to 256 characters',
    secret: true,
    help: 'Password of the operator for the HTTP API. Sign-in is disabled when unset.',
  }),
  OIDC_ISSUER: {
    help: 'OpenID Connect issuer whose people may sign in to the console. Disabled when unset: see docs/how-to/single-sign-on.md.',
    expected: 'an https URL without query; http only for localhost',
    read: readIssuer,
  } satisfies Variable<string>,
  OIDC_CLIENT_ID: text({
    pattern: /^[\x21-\x7e]{1,256}$/,
    expected: '1 to 256 printable characters without spaces',
    help: 'Client ID of the console at the issuer. Required with OIDC_ISSUER.',
  }),
  OIDC_CLIENT_SECRET: text({
    pattern: /^[\x21-\x7e]{8,1024}$/,
    expected: '8 to 1024 printable characters without spaces',
    secret: true,
    help: 'Client secret of the console at the issuer. A public client when unset.',
  }),
  OIDC_SCOPES: {
    help: 'Scopes that the console requests from the issuer.',
    expected: 'scopes separated by spaces, one of them openid',
    default: 'openid email profile',
    read(value) {
      const scopes = value.split(/\s+/).filter((each) => each !== '')
      return scopes.includes('openid') && scopes.every((each) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(each))
        ? scopes.join(' ')
        : undefined
    },
  } satisfies Variable<string>,
  OIDC_ROLE_CLAIM: text({
    pattern: /^[\x21-\x7e]{1,256}$/,
    expected: 'the name of a claim, or a path like realm_access.roles',
    default: 'groups',
    help: 'Claim with the groups or roles of a person: a text or a list of texts.',
  }),
  OIDC_ROLES: {
    help: 'Role in the console for each value of OIDC_ROLE_CLAIM; the highest one counts. `*` means each person of the issuer, and requires OIDC_EMAIL_DOMAINS. A person without a role is refused. Required with OIDC_ISSUER.',
    expected: 'pairs like "Sluice admins=owner, designers=editor, guests=viewer", separated by commas',
    read: readRoles,
  } satisfies Variable<readonly RoleRule[]>,
  OIDC_CLIENTS: {
    help: 'Clients that a new member sees after the first sign-in with OIDC_ISSUER: all, or their IDs. An owner of the console can change them for each member, and sees all.',
    expected: '"all", or IDs of clients separated by spaces or commas',
    default: 'all',
    read(value) {
      if (value === 'all') return 'all'
      const ids = value.split(/[\s,]+/).filter((each) => each !== '')
      return ids.length > 0 && ids.every((each) => /^[\w-]{1,64}$/.test(each)) ? ids : undefined
    },
  } satisfies Variable<'all' | readonly string[]>,
  OIDC_EMAIL_DOMAINS: listOf({
    item: (value) => /^[a-z\d-]+(\.[a-z\d-]+)+$/.test(value),
    expected: 'domains in lower case like example.com, separated by spaces or commas',
    help: 'Domains of email addresses that may sign in with OIDC_ISSUER. The issuer must have verified the address. All addresses when unset.',
  }),
  OIDC_UNVERIFIED_EMAIL: oneOf({
    words: ['off', 'on'],
    default: 'off',
    help: 'on: a person becomes a new member although the issuer has not stated that the email address is verified.',
  }),
  OIDC_SESSION_HOURS: integer({
    min: 1,
    max: 168,
    unit: 'hours',
    default: 12,
    help: 'How long a sign-in with OIDC_ISSUER lasts. A person who has lost the account at the issuer can use the console until then.',
  }),
  OIDC_SIGN_OUT: oneOf({
    words: ['on', 'off'],
    default: 'on',
    help: 'on: a member who signs out of the console is also sent to the page of the issuer for it, if it has one.',
  }),
  OIDC_LABEL: text({
    pattern: /^\P{C}{1,60}$/u,
    expected: '1 to 60 characters without control characters',
    default: 'Sign in with your organisation',
    help: 'Text of the button for OIDC_ISSUER on the sign-in page.',
  }),
  CONSOLE_ALLOW: listOf({
    ...ranges,
    help: 'IP ranges from which the console can be used: its pages, sign-in and sessions. All addresses when unset.',
  }),
  SECRETS_ALLOW: listOf({
    ...ranges,
    help: 'IP ranges from which requests with a secret are accepted. All addresses when unset.',
  }),
}

/** The issuer as it identifies itself. Over plain http only on this machine: the code and the secret must not be readable on the way. */
function readIssuer(value: string): string | undefined {
  if (!URL.canParse(value)) return undefined
  const url = new URL(value)
  const { protocol, hostname, search, hash, username, password } = url
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  if (protocol !== 'https:' && !(protocol === 'http:' && isLocal)) return undefined
  return search || hash || username || password ? undefined : url.href
}

function readRoles(value: string): readonly RoleRule[] | undefined {
  const pairs = value
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
  const rules = pairs.flatMap((pair): RoleRule[] => {
    const [, of = '', role = ''] = /^(.+?)\s*=\s*(viewer|editor|owner)$/.exec(pair) ?? []
    return role === 'viewer' || role === 'editor' || role === 'owner' ? [{ value: of, role }] : []
  })
  return rules.length > 0 && rules.length === pairs.length ? rules : undefined
}

/** Values that contradict each other, for the message. */
export function signInContradictions(given: Readonly<Record<string, string | undefined>>): string[] {
  if (given.OIDC_ISSUER) {
    const missing = ['OIDC_CLIENT_ID', 'OIDC_ROLES']
      .filter((name) => !given[name])
      .map((name) => `${name}: required with OIDC_ISSUER, but unset`)
    const isOpen = readRoles(given.OIDC_ROLES ?? '')?.some(({ value }) => value === '*')
    // Some issuers have accounts of all people of the world.
    const open =
      'OIDC_EMAIL_DOMAINS: required with * in OIDC_ROLES, which is for each account of the issuer, but unset'
    return isOpen && !given.OIDC_EMAIL_DOMAINS ? [...missing, open] : missing
  }
  return ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_ROLES']
    .filter((name) => given[name])
    .map((name) => `${name}: requires OIDC_ISSUER, which is unset`)
}
