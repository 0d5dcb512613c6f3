import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { type Browser, browser, firstOwner, newMember, PASSWORD } from '../../support/console/browser.ts'
import { exchange } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'

onOneBackend('the session of the console', (start) => {
  /** With one owner, for the tests that need no other settings. */
  let shared: Service
  let owner: Browser
  before(async () => {
    shared = await start({ env: { SIGN_IN_RATE_LIMIT_PER_IP: '0' } })
    owner = await firstOwner(shared)
  })

  it('counts for nothing that a page of another site can send', async () => {
    const service = await start({ env: { CORS_ORIGINS: 'http://page.example' } })
    const owner = await firstOwner(service)
    const client = { 'Sluice-Client': 'first' }
    const refused = async (headers: Record<string, string | null>) => {
      const list = await owner.send('GET', '/v1/files', undefined, { ...client, ...headers })
      const put = await owner.send('PUT', '/v1/upload/a.txt', 'text', {
        ...client,
        'Content-Type': 'text/plain',
        ...headers,
      })
      const clients = await owner.send('GET', '/v1/clients', undefined, headers)
      return [list.status, put.status, clients.status]
    }
    expect(await refused({})).to.deep.equal([200, 200, 200])
    for (const headers of [
      { 'Sluice-Console': null },
      { 'Sluice-Console': '0' },
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
      // A secret counts alone, even if it is wrong.
      { Authorization: 'Bearer sec_wrong' },
    ])
      expect(await refused(headers), JSON.stringify(headers)).to.deep.equal([401, 401, 403])
    const { headers } = await exchange(service, '/v1/files', {
      method: 'OPTIONS',
      headers: {
        Origin: 'http://page.example',
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'sluice-console',
      },
    })
    expect(headers['access-control-allow-headers']).to.not.match(/sluice/i)
    expect(headers).to.not.have.property('access-control-allow-credentials')
    for (const [method, path, body] of [
      ['POST', '/v1/session', { email: 'owner@example.com', password: PASSWORD }],
      ['POST', '/v1/session/link', { link: 'lnk_x.y' }],
      ['PUT', '/v1/session/link', { link: 'lnk_x.y', password: PASSWORD }],
      ['DELETE', '/v1/session', undefined],
    ] as const) {
      const { json } = await owner.send(method, path, body, { 'Sec-Fetch-Site': 'cross-site' })
      expect(json.code, `${method} ${path}`).to.equal('cross_site')
    }
    const form = await owner.send('POST', '/v1/session', 'email=a', { 'Content-Type': 'text/plain' })
    expect(form.status).to.equal(415)
  })

  it('is new after each sign-in, and never one that the browser has sent', async () => {
    const own = browser(shared)
    await own.signIn('owner@example.com')
    const { cookie } = own
    await own.signIn('owner@example.com')
    expect(own.cookie).to.not.equal(cookie)
    own.cookie = `${cookie}; ${own.cookie}`
    expect((await own.send('GET', '/v1/session')).status).to.equal(401)
    own.cookie = 'sluice_session=ses_chosen.by-an-attacker'
    await own.signIn('owner@example.com')
    expect(own.cookie).to.match(/^sluice_session=ses_[\w-]{100,}\.[\w-]{43}$/)
  })

  it('is refused when its cookie was changed', async () => {
    const viewer = await newMember(shared, owner, { email: 'v@example.com', role: 'viewer' })
    const [payload = '', signature = ''] = viewer.cookie.slice('sluice_session=ses_'.length).split('.')
    const [others = ''] = owner.cookie.slice('sluice_session=ses_'.length).split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const { m: ownerId } = JSON.parse(Buffer.from(others, 'base64url').toString())
    const changed = [
      { ...claims, m: ownerId },
      { ...claims, until: claims.until * 2 },
    ].map((one) => `${Buffer.from(JSON.stringify(one)).toString('base64url')}.${signature}`)
    for (const token of [...changed, `${others}.${signature}`, `${payload}.`, payload, '.', '']) {
      viewer.cookie = `sluice_session=ses_${token}`
      expect((await viewer.send('GET', '/v1/session')).status, token).to.equal(401)
    }
  })

  it('limits attempts per IP address and per email address, without locking out the member', async () => {
    const service = await start({
      env: { SIGN_IN_RATE_LIMIT: '2', SIGN_IN_RATE_LIMIT_PER_IP: '4', TRUST_PROXY: '1' },
    })
    const owner = await firstOwner(service)
    const from = async (address: string, email: string, password = 'not the password') => {
      const { status, json } = await browser(service).send(
        'POST',
        '/v1/session',
        { email, password },
        { 'X-Forwarded-For': address },
      )
      return status === 429 ? json.limit : status
    }
    expect(await from('192.0.2.1', 'owner@example.com', PASSWORD)).to.equal(200)
    expect(await from('192.0.2.2', 'owner@example.com')).to.equal(401)
    // The same address, in another case. The point of the sign-in above was the first one.
    expect(await from('192.0.2.3', 'OWNER@example.com')).to.equal('sign_in')
    expect(await from('192.0.2.3', 'owner@example.com', PASSWORD)).to.equal('sign_in')
    expect(await from('192.0.2.3', 'other@example.com')).to.equal(401)
    expect(await from('192.0.2.3', 'third@example.com')).to.equal(401)
    expect(await from('192.0.2.3', 'fourth@example.com')).to.equal('sign_in_address')
    expect(await from('192.0.2.1', 'owner@example.com', PASSWORD)).to.equal(200)
    // A stolen session does not serve to guess the password.
    const change = { currentPassword: 'not the password', newPassword: PASSWORD }
    const guesses = []
    for (let n = 0; n < 3; n += 1) guesses.push((await owner.send('PATCH', '/v1/session', change)).status)
    expect(guesses).to.include(429)
  })

  it('refuses an unknown email address like a wrong password', async () => {
    await owner.send('POST', '/v1/members', { email: 'invited@example.com', role: 'viewer' })
    const refusals = []
    for (const email of ['owner@example.com', 'unknown@example.com', 'invited@example.com']) {
      const { json } = await browser(shared).signIn(email, 'not the password')
      refusals.push({ ...json, instance: '' })
    }
    expect(refusals[0]).to.include({ status: 401, code: 'wrong_password' })
    expect(refusals[1]).to.deep.equal(refusals[0])
    expect(refusals[2]).to.deep.equal(refusals[0])
  })

  it('refuses further sign-ins while many wait', async () => {
    const env = { SIGN_IN_RATE_LIMIT: '0', SIGN_IN_RATE_LIMIT_PER_IP: '0' }
    // The requests come faster than passwords are checked.
    const service = await start({ env, passwordCost: { N: 2 ** 14, r: 8, p: 3 } })
    const tries: Promise<Awaited<ReturnType<Browser['signIn']>>>[] = []
    for (let n = 0; n < 30; n += 1) tries.push(browser(service).signIn(`${n}@example.com`))
    const answers = await Promise.all(tries)
    const busy = answers.filter(({ status }) => status === 503)
    expect(busy.length).to.be.within(1, 12)
    expect(busy[0]?.headers.get('retry-after')).to.equal('5')
    expect(answers.filter(({ status }) => status === 401)).to.have.length(30 - busy.length)
  })
})
