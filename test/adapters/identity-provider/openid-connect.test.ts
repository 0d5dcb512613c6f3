import type { ServerResponse } from 'node:http'
import { expect } from 'chai'
import {
  type OpenIdConnectOptions,
  openIdConnect,
} from '../../../src/adapters/identity-provider/openid-connect.ts'
import { IdentityProviderError } from '../../../src/core/ports/members/identity-provider.ts'
import { type ForgedIssuer, forgeIssuer } from '../../support/console/forged-issuer.ts'

const RETURN_TO = 'http://localhost:3000/v1/session/oidc/callback'
const MINUTE_MS = 60_000

describe('an OpenID Connect issuer', () => {
  let forged: ForgedIssuer
  let asked: string[]
  beforeEach(async () => {
    forged = await forgeIssuer()
    asked = []
    forged.instead = ({ url = '' }) => {
      asked.push(url)
      return false
    }
  })
  afterEach(() => forged.stop())

  const opened = (options: Partial<OpenIdConnectOptions> = {}) =>
    openIdConnect({
      issuer: forged.url,
      clientId: 'console',
      clientSecret: 'a secret',
      scopes: 'openid',
      wantedClaims: ['email'],
      ...options,
    })
  const failureOf = async (promise: Promise<unknown>) =>
    promise.then(
      () => 'none',
      (error: unknown) => (error instanceof IdentityProviderError ? error.failure : String(error)),
    )

  it('is requested at the first use, once for concurrent uses, and again after an hour', async () => {
    let now = 0
    const issuer = opened({ now: () => now })
    expect(asked).to.deep.equal([])
    await Promise.all([issuer.begin(RETURN_TO), issuer.begin(RETURN_TO)])
    now += 59 * MINUTE_MS
    await issuer.begin(RETURN_TO)
    expect(asked).to.have.length(1)
    now += 2 * MINUTE_MS
    await issuer.begin(RETURN_TO)
    expect(asked).to.have.length(2)
  })

  it('is unavailable when it does not respond in time, redirects, sends too much, or is another one', async () => {
    const outcome = (timeoutMs = 60_000) => failureOf(opened({ timeoutMs }).begin(RETURN_TO))
    const good = { issuer: forged.url, authorization_endpoint: `${forged.url}/authorize` }
    const requested: string[] = []
    const send = (res: ServerResponse, document: object) =>
      res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(document))
    for (const [name, answer] of Object.entries<(res: ServerResponse, url: string) => unknown>({
      silent: () => undefined,
      endless: (res) => res.writeHead(200, { 'Content-Type': 'application/json' }).write('{'),
      redirects(res, url) {
        requested.push(url)
        if (requested.length > 1) return send(res, good)
        return res.writeHead(302, { Location: '/elsewhere' }).end()
      },
      large: (res) => send(res, { ...good, more: 'x'.repeat(1024 * 1024) }),
    })) {
      forged.instead = ({ url = '' }, res) => {
        answer(res, url)
        return true
      }
      const mayEnd = name === 'redirects' || name === 'large'
      expect(await outcome(mayEnd ? undefined : 200), name).to.equal('unavailable')
    }
    expect(requested).to.deep.equal(['/.well-known/openid-configuration'])
    forged.instead = (_, res) => {
      send(res, good)
      return true
    }
    expect(await outcome(), 'good').to.equal('none')
    forged.instead = () => false
    forged.document = { issuer: 'https://evil.example' }
    expect(await outcome()).to.equal('unavailable')
  })

  it('is unavailable when it states another issuer, also at a host where the library permits this', async () => {
    const issuer = 'https://login.microsoftonline.com/common/v2.0'
    const original = globalThis.fetch
    const document = {
      issuer: 'https://login.microsoftonline.com/{tenantid}/v2.0',
      authorization_endpoint: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    }
    globalThis.fetch = async () =>
      new Response(JSON.stringify(document), { headers: { 'Content-Type': 'application/json' } })
    try {
      expect(await failureOf(opened({ issuer }).begin(RETURN_TO))).to.equal('unavailable')
    } finally {
      globalThis.fetch = original
    }
  })

  it('has no page for a sign-out when this is configured', async () => {
    forged.document = { end_session_endpoint: `${forged.url}/end` }
    expect(await opened().signOutUrl(RETURN_TO)).to.match(/\/end\?/)
    expect(await opened({ signsOut: false }).signOutUrl(RETURN_TO)).to.equal(undefined)
  })

  it('is not requested for five seconds after a failure', async () => {
    let now = 0
    const issuer = opened({ now: () => now })
    forged.document = { issuer: 'https://evil.example' }
    expect(await failureOf(issuer.begin(RETURN_TO))).to.equal('unavailable')
    forged.document = {}
    now += 4_999
    expect(await failureOf(issuer.begin(RETURN_TO))).to.equal('unavailable')
    expect(asked).to.have.length(1)
    now += 1
    expect(await failureOf(issuer.begin(RETURN_TO))).to.equal('none')
  })

  it('gets the secret as the issuer accepts it', async () => {
    const proofs: Array<string | undefined> = []
    for (const methods of [undefined, ['client_secret_basic'], ['client_secret_post']]) {
      forged.document = methods ? { token_endpoint_auth_methods_supported: methods } : {}
      forged.instead = ({ url = '', headers }) => {
        if (url === '/token') proofs.push(headers.authorization?.split(' ')[0])
        return false
      }
      const issuer = opened()
      const { secrets } = await issuer.begin(RETURN_TO)
      const answer = new URL(
        `${RETURN_TO}?${new URLSearchParams({ code: secrets.nonce, state: secrets.state })}`,
      )
      forged.idToken = (nonce) => nonce
      await failureOf(issuer.finish(answer, secrets))
    }
    expect(proofs).to.deep.equal(['Basic', 'Basic', undefined])
    expect(new URLSearchParams(forged.received[2]).get('client_secret')).to.equal('a secret')
  })
})
