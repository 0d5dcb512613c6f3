import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { type Browser, browser, firstOwner, newMember, PASSWORD } from '../../support/console/browser.ts'
import { ADMIN_PASSWORD } from '../../support/requests/admin.ts'
import type { Service } from '../../support/service.ts'

const DAY_MS = 86_400_000

onOneBackend('/v1/session', (start) => {
  /** With one owner, for the tests that neither change this owner nor list clients. */
  let shared: Service
  let operated: Service
  let owner: Browser
  before(async () => {
    shared = await start({ env: { SIGN_IN_RATE_LIMIT_PER_IP: '0' } })
    owner = await firstOwner(shared)
    operated = await start({ env: { ADMIN_PASSWORD, TRUST_PROXY: '1' } })
  })

  it('signs in a member by email address and password, in a cookie that scripts cannot read', async () => {
    const own = browser(shared)
    const { status, headers, json } = await own.signIn(' Owner@Example.com ')
    expect(status).to.equal(200)
    expect(headers.get('cache-control')).to.equal('no-store')
    expect(headers.get('set-cookie')).to.match(
      /^sluice_session=ses_[\w.-]+; Path=\/; Expires=[^;]+ GMT; HttpOnly; SameSite=Strict$/,
    )
    expect(json.member).to.include({ email: 'owner@example.com', name: 'Ada', role: 'owner' })
    expect(json.clients).to.deep.equal([{ id: 'first', token: shared.tokens.clientToken, signedUrls: false }])
    expect(json.isSetUp).to.equal(true)
    expect(Date.parse(json.expiresAt) - Date.now()).to.be.within(6 * DAY_MS, 7 * DAY_MS)
    const read = await own.send('GET', '/v1/session')
    expect(read.json).to.deep.equal(json)
    expect(read.headers.get('set-cookie')).to.equal(null)
  })

  it('lists the first client first, and the others by age', async () => {
    const service = await start()
    const owner = await firstOwner(service)
    const names = ['Shop', 'Magazine', 'Blog', 'Archive']
    for (const name of names) await owner.send('POST', '/v1/clients', { name })
    await owner.send('PATCH', '/v1/clients/first', { name: 'Studio' })
    const { json } = await owner.send('GET', '/v1/session')
    expect(json.clients.map(({ name }: { name: string }) => name)).to.deep.equal(['Studio', ...names])
  })

  it('sets a cookie for https only behind a proxy that speaks https', async () => {
    for (const [proto, isSecure] of [
      ['https', true],
      ['http', false],
    ] as const) {
      const { headers } = await browser(operated).send(
        'POST',
        '/v1/session',
        { password: ADMIN_PASSWORD },
        { 'X-Forwarded-Proto': proto },
      )
      expect(/; Secure/.test(headers.get('set-cookie') ?? ''), proto).to.equal(isSecure)
    }
  })

  it('signs in the operator with ADMIN_PASSWORD alone', async () => {
    expect(operated.app.firstVisit()).to.equal(undefined)
    const own = browser(operated)
    const { json } = await own.signIn(undefined, ADMIN_PASSWORD)
    expect(json.member).to.deep.equal({ id: 'operator', name: 'operator', role: 'owner' })
    expect(json.isSetUp).to.equal(false)
    expect((await own.send('GET', '/v1/clients')).status).to.equal(200)
    expect((await own.send('PATCH', '/v1/session', { name: 'x' })).json.code).to.equal('operator_session')
    const other = browser(operated)
    await other.signIn(undefined, ADMIN_PASSWORD)
    await own.send('DELETE', '/v1/session?everywhere=1')
    expect((await other.send('GET', '/v1/session')).status).to.equal(401)
    expect((await browser(operated).signIn(undefined, 'another password')).json.code).to.equal(
      'wrong_password',
    )
  })

  it('changes name and password, which ends the other sessions', async () => {
    const email = 'grace@example.com'
    const own = await newMember(shared, owner, { email, role: 'viewer' })
    const other = browser(shared)
    await other.signIn(email)
    const renamed = await own.send('PATCH', '/v1/session', { name: 'Ada Lovelace' })
    expect(renamed.json.member.name).to.equal('Ada Lovelace')
    expect((await own.send('GET', '/v1/session')).json.member.name).to.equal('Ada Lovelace')
    const change = { currentPassword: 'not the password', newPassword: `${PASSWORD}!` }
    const wrong = await own.send('PATCH', '/v1/session', change)
    expect([wrong.status, wrong.json.code]).to.deep.equal([403, 'wrong_password'])
    const changed = await own.send('PATCH', '/v1/session', { ...change, currentPassword: PASSWORD })
    expect(changed.status).to.equal(200)
    expect((await own.send('GET', '/v1/session')).status).to.equal(200)
    expect((await other.send('GET', '/v1/session')).json.code).to.equal('not_signed_in')
    expect((await other.signIn(email)).status).to.equal(401)
    expect((await other.signIn(email, `${PASSWORD}!`)).status).to.equal(200)
    const { status } = await own.send('PATCH', '/v1/session', { newPassword: `${PASSWORD}?` })
    expect(status).to.equal(400)
  })

  it('signs out of one browser, and everywhere', async () => {
    const email = 'linus@example.com'
    const one = await newMember(shared, owner, { email, role: 'viewer' })
    const [two, three] = [browser(shared), browser(shared)]
    for (const each of [two, three]) await each.signIn(email)
    const { cookie } = one
    const out = await one.send('DELETE', '/v1/session')
    expect(out.status).to.equal(204)
    expect(one.cookie).to.equal('')
    one.cookie = cookie
    expect((await one.send('GET', '/v1/session')).status).to.equal(401)
    expect((await two.send('GET', '/v1/session')).status).to.equal(200)
    await two.send('DELETE', '/v1/session?everywhere=1')
    for (const each of [two, three]) expect((await each.send('GET', '/v1/session')).status).to.equal(401)
  })

  it('acts for a client as the role of the member permits', async () => {
    const service = await start()
    const owner = await firstOwner(service)
    const { json: client } = await owner.send('POST', '/v1/clients', { name: 'Shop' })
    const invited = { clients: [client.id] }
    const viewer = await newMember(service, owner, {
      email: 'viewer@example.com',
      role: 'viewer',
      ...invited,
    })
    const editor = await newMember(service, owner, {
      email: 'editor@example.com',
      role: 'editor',
      ...invited,
    })
    const of = (id: string) => ({ 'Sluice-Client': id })
    const png = { ...of(client.id), 'Content-Type': 'text/plain' }

    expect((await viewer.send('GET', '/v1/files', undefined, of(client.id))).status).to.equal(200)
    const refused = await viewer.send('PUT', '/v1/upload/a.txt', 'text', png)
    expect([refused.status, refused.json.code]).to.deep.equal([403, 'role_forbids'])
    const [file] = (await editor.send('PUT', '/v1/upload/a.txt', 'text', png)).json
    expect(file.src).to.include(client.clientToken)
    const kept = await viewer.send('DELETE', `/v1/upload/${file.s3PathOriginal}`, undefined, of(client.id))
    expect(kept.json.code).to.equal('role_forbids')
    for (const id of ['first', 'unknown', '']) {
      const { status, json } = await editor.send('GET', '/v1/files', undefined, of(id))
      expect([status, json.code], id).to.deep.equal([404, 'client_not_found'])
    }
    expect((await editor.send('GET', '/v1/files')).json.param).to.equal('Sluice-Client')
    for (const [member, method, path, body] of [
      [editor, 'GET', '/v1/clients'],
      [editor, 'GET', '/v1/members'],
      [editor, 'PATCH', `/v1/members/${editor.id}`, { role: 'owner' }],
      [viewer, 'POST', '/v1/members', { email: 'x@example.com', role: 'owner' }],
      [viewer, 'POST', `/v1/members/${viewer.id}/link`],
      [editor, 'GET', '/v1/webhooks/deliveries'],
    ] as const) {
      const { status, json } = await member.send(method, path, body)
      expect([status, json.code], `${method} ${path}`).to.deep.equal([403, 'role_forbids'])
    }
    expect((await editor.send('GET', '/v1/session')).json.clients).to.have.length(1)
    expect((await owner.send('GET', '/v1/session')).json.clients).to.have.length(2)
    const removed = await editor.send('DELETE', `/v1/upload/${file.s3PathOriginal}`, undefined, of(client.id))
    expect(removed.status).to.equal(200)
  })
})
