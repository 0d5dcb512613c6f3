import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import {
  type Browser,
  browser,
  firstOwner,
  newMember,
  PASSWORD,
  tokenIn,
} from '../../support/console/browser.ts'
import { eventually } from '../../support/eventually.ts'
import { ADMIN_PASSWORD, postSignIn } from '../../support/requests/admin.ts'
import type { Service } from '../../support/service.ts'

const DAY_MS = 86_400_000

onOneBackend('/v1/members', (start) => {
  /** For the tests whose members are no matter of other members. */
  let shared: Service
  let owner: Browser
  before(async () => {
    shared = await start({ env: { SIGN_IN_RATE_LIMIT_PER_IP: '0' } })
    owner = await firstOwner(shared)
  })

  it('invites a member, who chooses a password by a link and has access at once', async () => {
    const service = await start()
    const owner = await firstOwner(service)
    const invitation = { email: 'Grace@Example.com', role: 'viewer', clients: ['first'] }
    const { status, json } = await owner.send('POST', '/v1/members', invitation)
    expect(status).to.equal(200)
    expect(json.member).to.include({ email: 'grace@example.com', name: 'Grace', role: 'viewer' })
    expect(json.link).to.match(/^http:\/\/127\.0\.0\.1:\d+\/dashboard\/welcome#lnk_[\w.-]+$/)
    expect(Date.parse(json.expiresAt) - Date.now()).to.be.within(6 * DAY_MS, 7 * DAY_MS)
    expect(json.member.invitedUntil).to.equal(json.expiresAt)
    const grace = browser(service)
    const link = { link: tokenIn(json.link) }
    for (let times = 0; times < 2; times += 1)
      expect((await grace.send('POST', '/v1/session/link', link)).json).to.deep.equal({
        purpose: 'invitation',
        email: 'grace@example.com',
        name: 'Grace',
        role: 'viewer',
        expiresAt: json.expiresAt,
      })
    const accepted = await grace.follow(json.link, { name: 'Grace Hopper', email: 'other@example.com' })
    expect(accepted.json.member).to.include({ email: 'grace@example.com', name: 'Grace Hopper' })
    expect((await grace.send('GET', '/v1/session')).status).to.equal(200)
    const { members } = (await owner.send('GET', '/v1/members')).json
    expect(members.map(({ name }: { name: string }) => name)).to.deep.equal(['Ada', 'Grace Hopper'])
    expect(members[1]).to.not.have.property('invitedUntil')
    await eventually(async () => {
      const [, { lastSeenAt }] = (await owner.send('GET', '/v1/members')).json.members
      expect(Date.parse(lastSeenAt)).to.be.greaterThan(Date.now() - DAY_MS)
    })
    expect(JSON.stringify(members)).to.not.match(/scrypt|password|sessions/)
    const again = await owner.send('POST', '/v1/members', { ...invitation, email: 'grace@example.COM' })
    expect([again.status, again.json.code]).to.deep.equal([409, 'email_taken'])
  })

  it('sets another password by a link, which ends the sessions of the member', async () => {
    const grace = await newMember(shared, owner, { email: 'sets@example.com', role: 'editor' })
    const first = (await owner.send('POST', `/v1/members/${grace.id}/link`)).json
    const second = (await owner.send('POST', `/v1/members/${grace.id}/link`)).json
    expect(Date.parse(first.expiresAt) - Date.now()).to.be.within(DAY_MS / 2, DAY_MS)
    expect((await grace.send('GET', '/v1/session')).status).to.equal(200)
    const other = browser(shared)
    expect((await other.follow(second.link, { password: `${PASSWORD}!` })).status).to.equal(200)
    expect((await grace.send('GET', '/v1/session')).status).to.equal(401)
    for (const { link } of [first, second]) {
      const used = await browser(shared).follow(link)
      expect([used.status, used.json.code]).to.deep.equal([410, 'link_expired'])
    }
    expect((await grace.signIn('sets@example.com', `${PASSWORD}!`)).status).to.equal(200)
  })

  it('ends an invitation by the next one', async () => {
    const first = (await owner.send('POST', '/v1/members', { email: 'e@example.com', role: 'viewer' })).json
    const invited = async () => (await owner.send('POST', `/v1/members/${first.member.id}/link`)).json
    let second = await invited()
    // A link names the millisecond until which it is valid.
    while (second.expiresAt === first.expiresAt) second = await invited()
    const read = (link: string) => browser(shared).send('POST', '/v1/session/link', { link: tokenIn(link) })
    expect((await read(first.link)).json.code).to.equal('link_expired')
    expect((await browser(shared).follow(first.link)).json.code).to.equal('link_expired')
    expect((await read(second.link)).json.purpose).to.equal('invitation')
    expect((await browser(shared).follow(second.link)).status).to.equal(200)
  })

  it('leaves out a client of a member that was deleted since', async () => {
    const { json: shop } = await owner.send('POST', '/v1/clients', { name: 'Shop' })
    const clients = ['first', shop.id]
    const grace = await newMember(shared, owner, { email: 'g@example.com', role: 'viewer', clients })
    const other = await newMember(shared, owner, { email: 'h@example.com', role: 'owner' })
    expect((await owner.send('DELETE', `/v1/clients/${shop.id}`)).status).to.equal(200)
    const patch = (id: string) => owner.send('PATCH', `/v1/members/${id}`, { role: 'editor', clients })
    expect((await patch(grace.id)).json).to.deep.include({ role: 'editor', clients: ['first'] })
    expect((await patch(grace.id)).json.param).to.equal('clients')
    // An owner sees all clients, but was given none by its ID.
    expect((await patch(other.id)).json.param).to.equal('clients')
  })

  it('changes role and clients of a member, and removes a member, with effect at once', async () => {
    const grace = await newMember(shared, owner, { email: 'changes@example.com', role: 'owner', clients: [] })
    expect((await grace.send('GET', '/v1/clients')).status).to.equal(200)
    const path = `/v1/members/${grace.id}`
    expect((await owner.send('PATCH', path, { role: 'viewer', clients: [] })).json).to.deep.include({
      role: 'viewer',
      clients: [],
    })
    expect((await grace.send('GET', '/v1/clients')).json.code).to.equal('role_forbids')
    expect((await grace.send('GET', '/v1/session')).json).to.deep.include({ clients: [] })
    await owner.send('PATCH', path, { clients: ['first'] })
    const files = () => grace.send('GET', '/v1/files', undefined, { 'Sluice-Client': 'first' })
    expect((await files()).status).to.equal(200)
    for (const body of [{ clients: ['nobody'] }, { role: 'admin' }, {}, { email: 'x@example.com' }])
      expect((await owner.send('PATCH', path, body)).json.code, JSON.stringify(body)).to.equal(
        'bad_parameter',
      )
    const link = (await owner.send('POST', `${path}/link`)).json.link
    expect((await owner.send('DELETE', path)).status).to.equal(204)
    expect((await files()).json.code).to.equal('not_signed_in')
    expect((await grace.signIn('changes@example.com')).json.code).to.equal('wrong_password')
    expect((await grace.follow(link)).json.code).to.equal('link_expired')
    for (const [method, at, body] of [
      ['PATCH', path, { role: 'viewer' }],
      ['DELETE', path],
      ['POST', `${path}/link`],
      ['DELETE', '/v1/members/operator'],
    ] as const)
      expect((await owner.send(method, at, body)).json.code).to.equal('member_not_found')
  })

  it('refuses to leave the installation without an owner who can sign in', async () => {
    const service = await start({ env: { ADMIN_PASSWORD } })
    const operator = browser(service)
    await operator.signIn(undefined, ADMIN_PASSWORD)
    const owner = await newMember(service, operator, { email: 'a@example.com', role: 'owner' })
    const invited = (await operator.send('POST', '/v1/members', { email: 'b@example.com', role: 'owner' }))
      .json
    for (const by of [owner, operator])
      for (const [method, body] of [
        ['PATCH', { role: 'editor' }],
        ['DELETE', undefined],
      ] as const) {
        const { status, json } = await by.send(method, `/v1/members/${owner.id}`, body)
        expect([status, json.code]).to.deep.equal([409, 'last_owner'])
      }
    expect((await operator.send('PATCH', `/v1/members/${owner.id}`, { name: 'A' })).json.name).to.equal('A')
    const other = browser(service)
    await other.follow(invited.link)
    // Each removes the other at the same time: one of them remains.
    const removals = await Promise.all([
      owner.send('DELETE', `/v1/members/${invited.member.id}`),
      other.send('DELETE', `/v1/members/${owner.id}`),
    ])
    expect(removals.map(({ status }) => status).sort()).to.have.members([204, 409])
  })

  it('admits the operator with a token of POST /v1/sign-in, and no secret of a client', async () => {
    const service = await start({ env: { ADMIN_PASSWORD } })
    const { token } = (await (await postSignIn(service, { password: ADMIN_PASSWORD })).json()) as {
      token: string
    }
    const list = (authorization: string) =>
      fetch(`${service.url}/v1/members`, { headers: { Authorization: authorization } })
    expect(await (await list(`Bearer ${token}`)).json()).to.deep.equal({ members: [] })
    expect((await list(service.tokens.secretClientToken)).status).to.equal(401)
  })

  it('notes who did what in the audit log, without links and passwords', async () => {
    const service = await start()
    const owner = await firstOwner(service)
    const grace = await newMember(service, owner, { email: 'grace@example.com', role: 'viewer' })
    await owner.send('PATCH', `/v1/members/${grace.id}`, { role: 'editor' })
    await grace.signIn('grace@example.com', 'not the password')
    await owner.send('DELETE', `/v1/members/${grace.id}`)
    const lines = service.log.lines.filter(({ message }) => message === 'audit').map(({ fields }) => fields)
    expect(lines.map(({ action }) => action)).to.deep.equal([
      'session.use-link',
      'member.invite',
      'session.use-link',
      'member.update',
      'session.refuse',
      'member.remove',
    ])
    expect(lines[3]).to.deep.include({ target: grace.id, address: '127.0.0.1' })
    expect(lines[3]).to.deep.nested.include({ 'member.name': 'Ada', 'details.role': 'editor' })
    expect(JSON.stringify(service.log.lines)).to.not.match(/lnk_|ses_|four random|not the password/)
  })
})
