import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import { onOneBackend } from '../../../support/backends.ts'
import { browser, firstOwner } from '../../../support/console/browser.ts'
import { type ForgedIssuer, forgeIssuer, signed, unsigned } from '../../../support/console/forged-issuer.ts'
import { CLIENT, startIssuer } from '../../../support/console/issuer.ts'
import { signInAt, type Visitor, visitor } from '../../../support/console/visitor.ts'
import type { Service } from '../../../support/service.ts'

/** A sign-in that has begun in a browser. */
interface Begun {
  own: Visitor
  state: string
  nonce: string
}

onOneBackend('attacks on the sign-in with an OpenID Connect issuer', (start) => {
  let forged: ForgedIssuer
  before(async () => {
    forged = await forgeIssuer()
  })
  after(() => forged.stop())
  beforeEach(() => {
    forged.document = {}
    forged.idToken = (nonce) => signed(forged.claims(nonce), forged.key)
    forged.instead = () => false
    forged.received.length = 0
  })

  const served = (env: Record<string, string> = {}) =>
    start({ env: { ...forged.env, SIGN_IN_RATE_LIMIT_PER_IP: '0', ...env } })
  let usual: Promise<Service> | undefined
  /** One for all tests that change neither its settings nor the documents of the issuer. */
  const shared = () => {
    usual ??= served()
    return usual
  }

  async function begin(service: Service, from?: string): Promise<Begun> {
    const own = visitor()
    const query = from === undefined ? '' : `?from=${encodeURIComponent(from)}`
    const response = await own.visit(`${service.url}/v1/session/oidc${query}`)
    const { searchParams } = new URL(response.headers.get('location') ?? '')
    return { own, state: searchParams.get('state') ?? '', nonce: searchParams.get('nonce') ?? '' }
  }
  /** Comes back from the issuer. @returns the reason of the refusal, or `in` with a session */
  async function comeBack(service: Service, own: Visitor, answer: Record<string, string>): Promise<string> {
    const { url } = await own.follow(`${service.url}/v1/session/oidc/callback?${new URLSearchParams(answer)}`)
    const hasSession = own.cookies[service.url]?.sluice_session !== undefined
    return new URL(url).searchParams.get('refused') ?? (hasSession ? 'in' : 'neither')
  }
  const attempt = async (service: Service, change: (begun: Begun) => Record<string, string> = () => ({})) => {
    const begun = await begin(service)
    return comeBack(service, begun.own, { code: begun.nonce, state: begun.state, ...change(begun) })
  }

  it('uses state, nonce and a code challenge, and proves it with the verifier', async () => {
    const service = await shared()
    const own = visitor()
    const response = await own.visit(`${service.url}/v1/session/oidc`)
    expect(response.status).to.equal(303)
    expect(response.headers.get('set-cookie')).to.match(
      /^sluice_oidc=v1\.[\w-]+; Path=\/; Expires=[^;]+ GMT; HttpOnly; SameSite=Lax$/,
    )
    const { searchParams } = new URL(response.headers.get('location') ?? '')
    expect(searchParams.get('code_challenge_method')).to.equal('S256')
    const [state = '', nonce = ''] = [searchParams.get('state'), searchParams.get('nonce')].map(String)
    expect(await comeBack(service, own, { code: nonce, state })).to.equal('in')
    expect(new URLSearchParams(forged.received[0]).get('code_verifier')).to.match(/^[\w-]{43}$/)
  })

  it('refuses a wrong or missing state, and the answer of another issuer', async () => {
    const service = await served()
    forged.document = { authorization_response_iss_parameter_supported: true }
    expect(await attempt(service, () => ({ iss: forged.url }))).to.equal('in')
    expect(await attempt(service, () => ({ iss: forged.url, state: 'another' }))).to.equal('expired')
    expect(await attempt(service, () => ({ iss: forged.url, state: '' }))).to.equal('expired')
    expect(await attempt(service, () => ({ iss: 'https://evil.example' }))).to.equal('invalid')
    expect(await attempt(service)).to.equal('invalid')
    // No code went to the issuer that may not be its own.
    expect(forged.received).to.have.length(1)
  })

  it('refuses ID tokens that the issuer has not signed for this sign-in', async () => {
    const service = await shared()
    const hmac = (claims: object) => {
      const content = unsigned(claims).replace(/^[^.]+/, Buffer.from('{"alg":"HS256"}').toString('base64url'))
      const text = content.slice(0, -1)
      return `${text}.${createHmac('sha256', CLIENT.secret).update(text).digest('base64url')}`
    }
    const claims = (change: object) => (nonce: string) => ({ ...forged.claims(nonce), ...change })
    const tokens: Record<string, (nonce: string) => string> = {
      'alg none': (nonce) => unsigned(forged.claims(nonce)),
      'the secret as key': (nonce) => hmac(forged.claims(nonce)),
      'another key': (nonce) => signed(forged.claims(nonce), forged.otherKey),
      'another nonce': () => signed(forged.claims('another'), forged.key),
      'another issuer': (nonce) => signed(claims({ iss: 'https://evil.example' })(nonce), forged.key),
      'another client': (nonce) => signed(claims({ aud: 'another' })(nonce), forged.key),
      expired: (nonce) => signed(claims({ exp: 1_000_000_000 })(nonce), forged.key),
      'no subject': (nonce) => signed(claims({ sub: undefined })(nonce), forged.key),
    }
    for (const [name, idToken] of Object.entries(tokens)) {
      forged.idToken = idToken
      expect(await attempt(service), name).to.equal('invalid')
    }
    expect(forged.received).to.have.length(Object.keys(tokens).length)
    expect(JSON.stringify(service.log.lines)).to.not.include('an-access-token')
  })

  it('refuses the answer of another browser, a changed cookie, and its second use', async () => {
    const service = await shared()
    const victim = await begin(service)
    const attacker = await begin(service)
    // The attacker sends the own link to the victim, to sign them in as the attacker.
    const link = { code: attacker.nonce, state: attacker.state }
    expect(await comeBack(service, victim.own, link)).to.equal('expired')
    // The own sign-in of the victim continues.
    expect(await comeBack(service, victim.own, { code: victim.nonce, state: victim.state })).to.equal('in')
    expect(await comeBack(service, visitor(), link)).to.equal('expired')
    const changed = visitor()
    const sealed = attacker.own.cookies[service.url]?.sluice_oidc ?? ''
    changed.cookies[service.url] = { sluice_oidc: `${sealed.slice(0, -2)}AA` }
    expect(await comeBack(service, changed, link)).to.equal('expired')
    expect(await comeBack(service, attacker.own, link)).to.equal('in')
    expect(await comeBack(service, attacker.own, link)).to.equal('expired')
  })

  it('never leads to another site, or out of the console', async () => {
    const service = await shared()
    const home = `${service.url}/dashboard/`
    for (const [from, to] of [
      ['/members', `${home}members`],
      ['//evil.example', home],
      ['/\\evil.example', home],
      ['https://evil.example', home],
      ['@evil.example', home],
      ['.evil.example', home],
      ['/../v1/session/oidc', home],
      ['/..//evil.example', home],
      ['/%2e%2e/%2e%2e/x', home],
      ['/a\tb', home],
      ['javascript:alert(1)', home],
      [`/${'x'.repeat(5000)}`, home],
    ]) {
      const { own, state, nonce } = await begin(service, from)
      const query = new URLSearchParams({ code: nonce, state })
      const response = await own.visit(`${service.url}/v1/session/oidc/callback?${query}`)
      expect(response.headers.get('location'), from).to.equal(to)
    }
  })

  it('refuses a code for the second time at a real issuer', async () => {
    const issuer = await startIssuer()
    try {
      const service = await start({ env: issuer.env })
      await issuer.serve(service.url)
      issuer.people.ada = { email: 'ada@example.com', groups: ['guests'] }
      const until = '/v1/session/oidc/callback'
      const { url, own } = await signInAt(service, { login: 'ada', until })
      const answer = Object.fromEntries(new URL(url).searchParams)
      const { ...before } = own.cookies[service.url]
      expect(await comeBack(service, own, answer)).to.equal('in')
      own.cookies[service.url] = before
      expect(await comeBack(service, own, answer)).to.equal('invalid')
    } finally {
      await issuer.stop()
    }
  })

  it('shows the sign-in page while the issuer is down, at any step; the password still works', async () => {
    const service = await served()
    await firstOwner(service)
    const begun = await begin(service)
    forged.instead = (_, res) => void res.writeHead(503).end() === undefined
    const answer = { code: begun.nonce, state: begun.state }
    expect(await comeBack(service, begun.own, answer)).to.equal('unavailable')
    const other = await served()
    const { url } = await visitor().follow(`${other.url}/v1/session/oidc?from=/members`)
    expect(new URL(url).search).to.equal('?refused=unavailable&from=%2Fmembers')
    const signOut = await visitor().follow(`${other.url}/v1/session/oidc/sign-out`)
    expect(signOut.url).to.equal(`${other.url}/dashboard/sign-in`)
    expect((await browser(service).signIn('owner@example.com')).status).to.equal(200)
  })

  it('counts answers of the issuer by IP address before it is asked, apart from passwords', async () => {
    const service = await served({ SIGN_IN_RATE_LIMIT_PER_IP: '1' })
    await firstOwner(service)
    // Other pages can cause these, so they do not count.
    for (let n = 0; n < 11; n += 1)
      expect(await attempt(service, () => ({ state: 'another' }))).to.equal('expired')
    const failed = { error: 'server_error', code: '' }
    for (let n = 0; n < 9; n += 1) expect(await attempt(service, () => failed)).to.equal('denied')
    const both = await Promise.all([attempt(service), attempt(service)])
    expect(both.toSorted()).to.deep.equal(['busy', 'in'])
    expect(forged.received).to.have.length(1)
    expect((await browser(service).signIn('owner@example.com')).status).to.equal(200)
  })

  it('begins no sign-in for a page of another site, which leads to the button', async () => {
    const service = await shared()
    const location = async (site: string) => {
      const headers = { 'Sec-Fetch-Site': site }
      const url = `${service.url}/v1/session/oidc?from=/members`
      const response = await fetch(url, { headers, redirect: 'manual' })
      return [response.headers.get('location')?.split('?')[0], response.headers.get('set-cookie') !== null]
    }
    const page = [`${service.url}/dashboard/sign-in`, false]
    expect(await location('cross-site')).to.deep.equal(page)
    expect(await location('same-site')).to.deep.equal(page)
    const provider = [`${forged.url}/authorize`, true]
    expect(await location('same-origin')).to.deep.equal(provider)
    expect(await location('none')).to.deep.equal(provider)
  })

  it('has a cookie over https that no other subdomain can set', async () => {
    const service = await served({ TRUST_PROXY: '1' })
    const headers = { 'X-Forwarded-Proto': 'https' }
    const response = await fetch(`${service.url}/v1/session/oidc`, { headers, redirect: 'manual' })
    expect(response.headers.get('set-cookie')).to.match(/^__Host-sluice_oidc=v1\..*; Secure$/)
    const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
    const { searchParams } = new URL(response.headers.get('location') ?? '')
    const query = new URLSearchParams({
      code: String(searchParams.get('nonce')),
      state: String(searchParams.get('state')),
    })
    const callback = `${service.url}/v1/session/oidc/callback?${query}`
    const answer = async (name: string) => {
      const sent = { ...headers, Cookie: `${name}=${cookie.replace(/^[^=]*=/, '')}` }
      const { headers: own } = await fetch(callback, { headers: sent, redirect: 'manual' })
      return own.get('location')
    }
    expect(await answer('sluice_oidc')).to.include('refused=expired')
    expect(await answer('__Host-sluice_oidc')).to.equal(`${service.url}/dashboard/`)
  })
})
