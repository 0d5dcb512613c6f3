import type { Configuration, CustomFetch } from 'openid-client'
import {
  type Claims,
  type IdentityProvider,
  IdentityProviderError,
  type ProviderFailure,
} from '../../core/ports/members/identity-provider.ts'
import { boundedFetch, UnreachableError } from './bounded-fetch.ts'

export interface OpenIdConnectOptions {
  /** The URL of the issuer, without query. Plain http is used only if it has this scheme. */
  issuer: string
  clientId: string
  /** Undefined: a public client. */
  clientSecret: string | undefined
  /** Separated by spaces. */
  scopes: string
  /** Names of claims that are requested from the issuer's endpoint of user information when the ID token has not all of them. */
  wantedClaims: readonly string[]
  /** Whether people are sent to the issuer after a sign-out, if it has a page for it. Default: true. */
  signsOut?: boolean
  /** Time for each response of the issuer. */
  timeoutMs?: number
  now?: () => number
}

const TIMEOUT_MS = 5_000
// The largest documents are lists of keys with certificates, of some 100 kB.
const RESPONSE_MAX_BYTES = 1024 * 1024
// An issuer may move its endpoints.
const DISCOVERED_FOR_MS = 60 * 60_000
// While the issuer is down, each visitor would wait for the timeout.
const FAILED_FOR_MS = 5_000

/** An issuer of OpenID Connect, with the authorization code flow and PKCE. The library is loaded at the first use. */
export function openIdConnect(options: OpenIdConnectOptions): IdentityProvider {
  const { issuer, scopes, wantedClaims, signsOut = true, now = Date.now } = options
  let discovered: { at: number; result: Promise<Configuration> } | undefined
  let failedAt = Number.NEGATIVE_INFINITY

  /** The endpoints and keys of the issuer. Concurrent calls share one request. */
  function configuration(): Promise<Configuration> {
    const isFresh = discovered && now() < discovered.at + DISCOVERED_FOR_MS
    if (discovered && isFresh) return discovered.result
    if (now() < failedAt + FAILED_FOR_MS)
      return Promise.reject(new UnreachableError(`${issuer} did not respond a moment ago`))
    const begun = { at: now(), result: discover(options) }
    discovered = begun
    begun.result.catch(() => {
      failedAt = now()
      if (discovered === begun) discovered = undefined
    })
    return begun.result
  }

  return {
    issuer,
    async begin(returnTo) {
      const client = await import('openid-client')
      const config = await configuration().catch(unavailable)
      const secrets = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      }
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: returnTo,
        scope: scopes,
        state: secrets.state,
        nonce: secrets.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(secrets.verifier),
        code_challenge_method: 'S256',
      })
      return { url: url.href, secrets }
    },
    async finish(answer, { state, nonce, verifier }) {
      const client = await import('openid-client')
      const config = await configuration().catch(unavailable)
      try {
        const tokens = await client.authorizationCodeGrant(config, answer, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        })
        const claims = tokens.claims()
        if (!claims) throw new IdentityProviderError('invalid', 'the response has no ID token')
        const isComplete = wantedClaims.every((name) => Object.hasOwn(claims, name))
        if (isComplete || !config.serverMetadata().userinfo_endpoint) return claims
        const more = await client.fetchUserInfo(config, tokens.access_token, claims.sub)
        return joined(claims, more)
      } catch (error) {
        throw failureOf(error, client)
      }
    },
    async signOutUrl(returnTo) {
      if (!signsOut) return undefined
      const client = await import('openid-client')
      const config = await configuration().catch(unavailable)
      if (!config.serverMetadata().end_session_endpoint) return undefined
      return client.buildEndSessionUrl(config, { post_logout_redirect_uri: returnTo }).href
    },
  }
}

/** Reads the discovery document of the issuer. @throws Error */
async function discover({
  issuer,
  clientId,
  clientSecret,
  timeoutMs = TIMEOUT_MS,
}: Pick<OpenIdConnectOptions, 'issuer' | 'clientId' | 'clientSecret' | 'timeoutMs'>): Promise<Configuration> {
  const client = await import('openid-client')
  const url = new URL(issuer)
  const authentication: Parameters<typeof client.discovery>[3] = (server, of, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported
    const inBody = methods?.includes('client_secret_post')
    const send =
      clientSecret === undefined
        ? client.None()
        : inBody
          ? client.ClientSecretPost(clientSecret)
          : client.ClientSecretBasic(clientSecret)
    return send(server, of, body, headers)
  }
  const config = await client.discovery(url, clientId, undefined, authentication, {
    [client.customFetch]: boundedFetch({ timeoutMs, maxBytes: RESPONSE_MAX_BYTES }) as CustomFetch,
    ...(url.protocol === 'http:' ? { execute: [client.allowInsecureRequests] } : {}),
  })
  // The library accepts any issuer at some hosts: there, each organisation of the world could sign in.
  const stated = config.serverMetadata().issuer
  if (!URL.canParse(stated) || new URL(stated).href !== url.href)
    throw new Error(`${issuer} states that it is ${stated}`)
  // The signature of an ID token is verified, although it comes from the issuer itself.
  client.enableNonRepudiationChecks(config)
  return config
}

/** All claims. Those of the ID token count first, and whether an address is verified is stated with this address alone. */
function joined(claims: Claims, more: Readonly<Record<string, unknown>>): Claims {
  const { email_verified: _, ...others } = { ...more, ...claims }
  const source = [claims, more].find((each) => each.email === others.email && 'email_verified' in each)
  return { ...others, sub: claims.sub, ...(source ? { email_verified: source.email_verified } : {}) }
}

function unavailable(error: Error): never {
  throw new IdentityProviderError('unavailable', messageOf(error))
}

/** The error without its causes: they have the code, the tokens and the claims. */
function failureOf(error: unknown, client: typeof import('openid-client')): IdentityProviderError {
  if (error instanceof IdentityProviderError) return error
  if (isUnreachable(error)) return new IdentityProviderError('unavailable', messageOf(error))
  const stated = error instanceof client.AuthorizationResponseError ? STATED[error.error] : undefined
  return new IdentityProviderError(stated ?? 'invalid', messageOf(error))
}

/** What the errors of an issuer mean, which the browser brings back. Others are errors of the configuration. */
const STATED: Readonly<Record<string, ProviderFailure>> = {
  access_denied: 'denied',
  login_required: 'denied',
  consent_required: 'denied',
  interaction_required: 'denied',
  server_error: 'denied',
  temporarily_unavailable: 'denied',
}

function isUnreachable(error: unknown): boolean {
  if (error instanceof UnreachableError) return true
  return error instanceof Error && error.cause !== undefined && isUnreachable(error.cause)
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (cause instanceof UnreachableError) return cause.message
  const { code, error: stated } = error as { code?: unknown; error?: unknown }
  const known = [code, stated].filter((each) => typeof each === 'string')
  return [error.message, ...known].join(': ')
}
