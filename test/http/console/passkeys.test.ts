import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { type Authenticator, authenticator, type Changes } from '../../support/console/authenticator.ts'
import { type Browser, browser, firstOwner, newMember, PASSWORD } from '../../support/console/browser.ts'
import { ADMIN_PASSWORD } from '../../support/requests/admin.ts'
import type { Service } from '../../support/service.ts'

const EMAIL = 'owner@example.com'

/** Adds a passkey of a new device. */
async function addTo(own: Browser, service: Service, name = 'Phone') {
  const device = authenticator(service.url)
  const page = { Origin: service.url }
  const { json: options } = await own.send('POST', '/v1/session/passkeys/options', undefined, page)
  const added = await own.send('POST', '/v1/session/passkeys', { name, ...device.create(options) })
  return { device, added }
}

/** Signs in with the passkey of a device. */
async function signInWith(own: Browser, service: Service, device: Authenticator, changes: Changes = {}) {
  const { json } = await own.send('POST', '/v1/session/passkey/options', undefined, { Origin: service.url })
  return own.send('POST', '/v1/session/passkey', device.use(json, changes))
}

onOneBackend('passkeys over HTTP', (start) => {
  /** With one owner, for the tests that need no other settings, and leave a password. */
  let shared: Service
  let owner: Browser
  before(async () => {
    shared = await start({ env: { SIGN_IN_RATE_LIMIT_PER_IP: '0' } })
    owner = await firstOwner(shared)
  })

  it('are added, used for a sign-in without an email address, and removed', async () => {
    const { device, added } = await addTo(owner, shared)
    expect(added.status).to.equal(200)
    expect(added.json).to.have.all.keys('id', 'name', 'origin', 'createdAt')
    const other = browser(shared)
    const { status, json, headers } = await signInWith(other, shared, device)
    expect(status).to.equal(200)
    expect(json.member).to.include({ email: EMAIL, role: 'owner' })
    expect(headers.getSetCookie().map((one) => one.replace(/=.*?;/, '=…;'))).to.deep.equal([
      'sluice_passkey=…; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; SameSite=Strict',
      `sluice_session=…; Path=/; Expires=${new Date(json.expiresAt).toUTCString()}; HttpOnly; SameSite=Strict`,
    ])
    expect((await other.send('GET', '/v1/session')).status).to.equal(200)
    const list = await owner.send('GET', '/v1/session/passkeys')
    const one = list.json.passkeys.find(({ id }: { id: string }) => id === added.json.id)
    expect(one).to.include({ name: 'Phone' })
    expect(Date.parse(one.lastUsedAt)).to.be.at.least(Date.parse(added.json.createdAt))
    expect((await owner.send('DELETE', `/v1/session/passkeys/${added.json.id}`)).status).to.equal(204)
    expect((await owner.send('GET', '/v1/session')).status).to.equal(200)
    expect((await other.send('GET', '/v1/session')).json.code).to.equal('not_signed_in')
    expect((await signInWith(other, shared, device)).json.code).to.equal('unknown_passkey')
  })

  it('state what a browser needs, and who the member is', async () => {
    const { json: first } = await addTo(owner, shared).then(({ added }) => added)
    expect(first.name).to.equal('Phone')
    const page = { Origin: shared.url }
    const { json, headers } = await owner.send('POST', '/v1/session/passkeys/options', undefined, page)
    const { json: session } = await owner.send('GET', '/v1/session')
    expect(json).to.deep.include({
      rp: { id: '127.0.0.1', name: 'Sluice' },
      user: { id: Buffer.from(session.member.id).toString('base64url'), name: EMAIL, displayName: 'Ada' },
      timeout: 300_000,
      attestation: 'none',
      authenticatorSelection: {
        residentKey: 'required',
        requireResidentKey: true,
        userVerification: 'required',
      },
    })
    expect(json.pubKeyCredParams.map(({ alg }: { alg: number }) => alg)).to.deep.equal([-8, -7, -257])
    const { json: own } = await owner.send('GET', '/v1/session/passkeys')
    expect(own.passkeys).to.not.deep.equal([])
    expect(json.excludeCredentials).to.have.length(own.passkeys.length)
    expect(headers.get('cache-control')).to.equal('no-store')
    expect(headers.get('set-cookie')).to.match(/^sluice_passkey=v1\.[\w-]+; .*; HttpOnly; SameSite=Strict$/)
  })

  it('are for BASE_URL when it is set, with a cookie for this host alone', async () => {
    const service = await start({ env: { BASE_URL: 'https://files.example.com/sluice', TRUST_PROXY: '1' } })
    const own = browser(service)
    const headers = { 'X-Forwarded-Proto': 'https', Origin: 'https://evil.example.com' }
    const { json, headers: received } = await own.send(
      ...(['POST', '/v1/session/passkey/options', undefined, headers] as const),
    )
    expect(json.rpId).to.equal('files.example.com')
    expect(received.get('set-cookie')).to.match(/^__Host-sluice_passkey=.*; Path=\/; .*; Secure$/)
  })

  it('are not begun from another page', async () => {
    const own = browser(shared)
    const begin = async (headers: Record<string, string | null>) => {
      const { status, json } = await own.send('POST', '/v1/session/passkey/options', undefined, headers)
      return `${status} ${json.code}`
    }
    for (const origin of [null, 'null', 'https://evil.example.com', 'http://127.0.0.1:1', 'ftp://127.0.0.1'])
      expect(await begin({ Origin: origin }), String(origin)).to.equal('400 unknown_origin')
    const cross = { 'Sec-Fetch-Site': 'cross-site', Origin: shared.url }
    expect(await begin(cross)).to.equal('403 cross_site')
  })

  it('refuse bodies that no browser sends, each with a problem of its own', async () => {
    const { device } = await addTo(owner, shared)
    const signIn = {
      id: 'AA',
      clientDataJSON: 'AA',
      authenticatorData: 'AA',
      signature: 'AA',
      userHandle: 'AA',
    }
    const add = { name: 'Phone', id: 'AA', clientDataJSON: 'AA', attestationObject: 'AA' }
    for (const [path, body, param] of [
      ['passkey', { ...signIn, id: 'A'.repeat(1365) }, 'id'],
      ['passkey', { ...signIn, id: 'not base64url!' }, 'id'],
      ['passkey', { ...signIn, signature: '' }, 'signature'],
      ['passkey', { ...signIn, userHandle: 'A'.repeat(87) }, 'userHandle'],
      ['passkey', { ...signIn, authenticatorData: 'A'.repeat(1400) }, 'authenticatorData'],
      ['passkey', { ...signIn, clientDataJSON: null }, 'clientDataJSON'],
      ['passkeys', { ...add, name: ' ' }, 'name'],
      ['passkeys', { ...add, name: 'x'.repeat(101) }, 'name'],
      ['passkeys', { ...add, attestationObject: 'A'.repeat(11_000) }, 'attestationObject'],
    ] as const) {
      const { status, json } = await owner.send('POST', `/v1/session/${path}`, body)
      expect([status, json.code, json.param], JSON.stringify(body)).to.deep.equal([
        400,
        'bad_parameter',
        param,
      ])
    }
    const large = await owner.send('POST', '/v1/session/passkeys', { ...add, more: 'x'.repeat(17_000) })
    expect([large.status, large.json.code]).to.deep.equal([413, 'too_large'])
    // Bytes of the right form that are no answer.
    const page = { Origin: shared.url }
    for (const attestationObject of ['AA', 'gYGB', Buffer.alloc(8000, 0x81).toString('base64url')]) {
      await owner.send('POST', '/v1/session/passkeys/options', undefined, page)
      const { status, json } = await owner.send('POST', '/v1/session/passkeys', { ...add, attestationObject })
      expect([status, json.code]).to.deep.equal([403, 'wrong_passkey'])
    }
    const { json: options } = await owner.send('POST', '/v1/session/passkey/options', undefined, page)
    const used = { ...device.use(options), authenticatorData: 'AAAA' }
    const { status, json } = await owner.send('POST', '/v1/session/passkey', used)
    expect([status, json.code]).to.deep.equal([401, 'wrong_passkey'])
  })

  it('replace the password, which the last owner gets again by a link', async () => {
    const service = await start()
    const own = await firstOwner(service)
    const other = browser(service)
    await other.signIn(EMAIL)
    const page = { Origin: service.url }
    const change = { currentPassword: PASSWORD, newPassword: null }
    const unknown = await own.send('PATCH', '/v1/session', change)
    expect([unknown.status, unknown.json.code]).to.deep.equal([400, 'unknown_origin'])
    const tooEarly = await own.send('PATCH', '/v1/session', change, page)
    expect([tooEarly.status, tooEarly.json.code]).to.deep.equal([409, 'no_passkey'])
    const { device, added } = await addTo(own, service)
    const missing = await own.send('PATCH', '/v1/session', { newPassword: null })
    expect(missing.json).to.include({ status: 400, param: 'currentPassword' })
    const removed = await own.send('PATCH', '/v1/session', change, page)
    expect(removed.json.member).to.include({ email: EMAIL, passkeyOnly: true })
    expect(removed.json.isSetUp).to.equal(true)
    expect((await other.send('GET', '/v1/session')).json.code).to.equal('not_signed_in')
    expect((await other.signIn(EMAIL)).json.code).to.equal('wrong_password')
    const again = await own.send('PATCH', '/v1/session', change, page)
    expect([again.status, again.json.code]).to.deep.equal([409, 'no_password'])
    const last = await own.send('DELETE', `/v1/session/passkeys/${added.json.id}`, undefined, page)
    expect([last.status, last.json.code]).to.deep.equal([409, 'last_passkey'])
    const { json: list } = await own.send('GET', '/v1/members')
    expect(list.members[0]).to.include({ passkeys: 1, passkeyOnly: true })
    const lastOwner = await own.send('PATCH', `/v1/members/${list.members[0].id}`, { role: 'viewer' })
    expect(lastOwner.json.code).to.equal('last_owner')
    expect((await signInWith(other, service, device)).status).to.equal(200)
    const { json: link } = await own.send('POST', `/v1/members/${list.members[0].id}/link`)
    const back = await browser(service).follow(link.link)
    expect(back.json.member).to.not.have.property('passkeyOnly')
    expect((await own.send('GET', '/v1/session')).json.code).to.equal('not_signed_in')
    expect((await signInWith(browser(service), service, device)).json.code).to.equal('unknown_passkey')
    expect((await browser(service).signIn(EMAIL)).status).to.equal(200)
  })

  it('are in the audit log', async () => {
    const service = await start()
    const page = { Origin: service.url }
    const own = await firstOwner(service)
    const { device, added } = await addTo(own, service, 'Key of Ada')
    await signInWith(browser(service), service, device)
    await signInWith(browser(service), service, device, { isVerified: false })
    await signInWith(browser(service), service, device, { id: 'dW5rbm93bg' })
    await own.send('PATCH', '/v1/session', { currentPassword: PASSWORD, newPassword: null }, page)
    const second = await addTo(own, service, 'Second')
    await own.send('DELETE', `/v1/session/passkeys/${added.json.id}`, undefined, page)
    await own.send('PATCH', '/v1/session', { newPassword: PASSWORD })
    await own.send('PATCH', '/v1/session', { currentPassword: PASSWORD, newPassword: `${PASSWORD}!` })
    expect(second.added.status).to.equal(200)
    const { json } = await own.send('GET', '/v1/audit')
    const entries = json.entries.map(({ action, member, details }: Record<string, unknown>) => ({
      action,
      member: (member as { name?: string } | null)?.name,
      ...(details ? { details } : {}),
    }))
    const passkey = 'Key of Ada'
    expect(entries).to.deep.equal([
      { action: 'session.change-password', member: 'Ada' },
      { action: 'session.set-password', member: 'Ada' },
      { action: 'session.remove-passkey', member: 'Ada', details: { passkey } },
      { action: 'session.add-passkey', member: 'Ada', details: { passkey: 'Second' } },
      { action: 'session.remove-password', member: 'Ada' },
      { action: 'session.refuse', member: 'Ada', details: { by: 'passkey', reason: 'passkey_unverified' } },
      { action: 'session.sign-in', member: 'Ada', details: { by: 'passkey', passkey } },
      { action: 'session.add-passkey', member: 'Ada', details: { passkey } },
      { action: 'session.use-link', member: 'Ada' },
    ])
  })

  it('count for each IP address, ten times as often as passwords, which have another counter', async () => {
    const service = await start({ env: { SIGN_IN_RATE_LIMIT_PER_IP: '1' } })
    const own = await firstOwner(service)
    const { device } = await addTo(own, service)
    const { headers } = await signInWith(browser(service), service, device)
    expect(headers.get('ratelimit-policy')).to.match(/^"sign_in_address";q=10;w=\d+$/)
    expect(headers.get('ratelimit')).to.match(/^"sign_in_address";r=8;t=\d+$/)
    const answer = { id: 'AA', clientDataJSON: 'AA' }
    const used = { ...answer, authenticatorData: 'AA', signature: 'AA', userHandle: 'AA' }
    for (let n = 3; n <= 10; n += 1) {
      const { json } = await own.send('POST', '/v1/session/passkey', used)
      expect(json.code).to.equal('unknown_passkey')
    }
    const added = { name: 'Phone', ...answer, attestationObject: 'AA' }
    for (const limited of [
      await own.send('POST', '/v1/session/passkey', used),
      await own.send('POST', '/v1/session/passkeys', added),
    ])
      expect([limited.status, limited.json.code, limited.json.limit]).to.deep.equal([
        ...[429, 'rate_limited', 'sign_in_address'],
      ])
    expect((await browser(service).signIn(EMAIL)).status).to.equal(200)
    expect((await browser(service).signIn(EMAIL)).status).to.equal(429)
  })

  it('of a viewer are of no other member, and the operator has none', async () => {
    const service = await start({ env: { ADMIN_PASSWORD } })
    const operator = browser(service)
    await operator.signIn(undefined, ADMIN_PASSWORD)
    const owner = await newMember(service, operator, { email: EMAIL, role: 'owner' })
    const viewer = await newMember(service, operator, { email: 'viewer@example.com', role: 'viewer' })
    const { added } = await addTo(owner, service)
    const ofViewer = await addTo(viewer, service, 'Laptop')
    expect((await viewer.send('GET', '/v1/session/passkeys')).json.passkeys).to.deep.equal([
      ofViewer.added.json,
    ])
    const foreign = await viewer.send('DELETE', `/v1/session/passkeys/${added.json.id}`)
    expect([foreign.status, foreign.json.code]).to.deep.equal([404, 'passkey_not_found'])
    expect((await signInWith(browser(service), service, ofViewer.device)).json.member.role).to.equal('viewer')
    const page = { Origin: service.url }
    const refused = await operator.send('POST', '/v1/session/passkeys/options', undefined, page)
    expect([refused.status, refused.json.code]).to.deep.equal([409, 'operator_session'])
    expect((await browser(service).send('GET', '/v1/session/passkeys')).json.code).to.equal('not_signed_in')
  })
})
