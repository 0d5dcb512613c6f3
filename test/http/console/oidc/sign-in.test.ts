import { expect } from 'chai'
import { onOneBackend } from '../../../support/backends.ts'
import { browser, firstOwner, newMember, PASSWORD } from '../../../support/console/browser.ts'
import { type Issuer, startIssuer } from '../../../support/console/issuer.ts'
import { signInAt } from '../../../support/console/visitor.ts'
import type { Service } from '../../../support/service.ts'

onOneBackend('sign-in with an OpenID Connect issuer', (start) => {
  let issuer: Awaited<ReturnType<typeof startIssuer>>
  before(async () => {
    issuer = await startIssuer()
  })
  after(() => issuer.stop())

  async function served(env: Record<string, string> = {}): Promise<Service> {
    const service = await start({ env: { ...issuer.env, ...env } })
    await issuer.serve(service.url)
    return service
  }
  const person = (people: Issuer['people']) => Object.assign(issuer.people, people)
  const refusedOf = (url: string) => new URL(url).searchParams.get('refused')
  const actions = (entries: { action: string; details?: object }[]) =>
    entries.map(({ action, details }) => ({ action, ...(details ? { details } : {}) }))

  it('makes a person a member with the role of a group, and shows the page that was opened', async () => {
    const service = await served()
    const owner = await firstOwner(service)
    person({
      ada: { email: 'Ada@Example.com', email_verified: true, name: 'Ada L.', groups: ['x', 'designers'] },
    })
    const { url, session, own } = await signInAt(service, {
      login: 'ada',
      from: '/c/first/files/a?view=grid',
    })
    expect(url).to.equal(`${service.url}/dashboard/c/first/files/a?view=grid`)
    const { json } = await session.send('GET', '/v1/session')
    expect(json.member).to.deep.include({
      email: 'ada@example.com',
      name: 'Ada L.',
      role: 'editor',
      organisation: true,
    })
    expect(json.clients).to.have.length(1)
    expect(own.cookies[service.url]).to.have.all.keys('sluice_session')
    const { entries } = (await owner.send('GET', '/v1/audit')).json
    expect(actions(entries.slice(0, 2))).to.deep.equal([
      { action: 'session.sign-in', details: { by: 'oidc' } },
      { action: 'member.join', details: { by: 'oidc', email: 'ada@example.com', role: 'editor' } },
    ])
    const listed = (await owner.send('GET', '/v1/members')).json.members
    expect(listed.map(({ organisation }: { organisation?: true }) => organisation)).to.deep.equal([
      undefined,
      true,
    ])
    // There is no password to try, to change or to reset.
    expect((await browser(service).signIn('ada@example.com', '')).status).to.equal(401)
    const change = { currentPassword: '', newPassword: PASSWORD }
    expect((await session.send('PATCH', '/v1/session', change)).json.code).to.equal('no_password')
    const link = await owner.send('POST', `/v1/members/${json.member.id}/link`)
    expect(link.json.code).to.equal('no_password')
  })

  it('gives the role of the latest sign-in, and ends the sessions of a person without a role', async () => {
    const service = await served({ OIDC_CLIENTS: 'first' })
    const owner = await firstOwner(service)
    person({ bea: { email: 'bea@example.com', groups: 'sluice-admins' } })
    const first = await signInAt(service, { login: 'bea' })
    const roleOf = async () => (await first.session.send('GET', '/v1/session')).json.member?.role
    expect(await roleOf()).to.equal('owner')
    person({ bea: { email: 'bea@example.com', groups: ['guests'] } })
    await signInAt(service, { login: 'bea' })
    expect(await roleOf()).to.equal('viewer')
    const [, bea] = (await owner.send('GET', '/v1/members')).json.members
    expect(bea).to.deep.include({ role: 'viewer', clients: ['first'] })
    person({ bea: { email: 'bea@example.com', groups: ['others'] } })
    const last = await signInAt(service, { login: 'bea' })
    expect(refusedOf(last.url)).to.equal('role')
    expect(last.session.cookie).to.equal('')
    expect(await roleOf()).to.equal(undefined)
    const [entry] = (await owner.send('GET', '/v1/audit')).json.entries
    expect(entry).to.deep.include({ action: 'session.refuse', member: { id: bea.id, name: 'bea' } })
    expect(entry.details).to.deep.include({ by: 'oidc', reason: 'role' })
  })

  it('takes over a member by a verified email address alone, and replaces the password', async () => {
    const service = await served()
    const owner = await firstOwner(service)
    const cleo = await newMember(service, owner, {
      email: 'cleo@example.com',
      role: 'viewer',
      clients: ['first'],
    })
    person({ cleo: { email: 'cleo@example.com', email_verified: false, groups: ['designers'] } })
    expect(refusedOf((await signInAt(service, { login: 'cleo' })).url)).to.equal('taken')
    expect((await cleo.send('GET', '/v1/session')).status).to.equal(200)
    person({ cleo: { email: 'cleo@example.com', email_verified: true, groups: ['designers'] } })
    const { session } = await signInAt(service, { login: 'cleo' })
    const { json } = await session.send('GET', '/v1/session')
    expect(json.member).to.deep.include({ id: cleo.id, role: 'editor', organisation: true })
    expect((await cleo.send('GET', '/v1/session')).status).to.equal(401)
    expect((await browser(service).signIn('cleo@example.com')).status).to.equal(401)
    // Another account with the same address is another person.
    person({ impostor: { email: 'cleo@example.com', email_verified: true, groups: ['sluice-admins'] } })
    expect(refusedOf((await signInAt(service, { login: 'impostor' })).url)).to.equal('taken')
  })

  it('never becomes the last owner with a password, only an owner next to another one', async () => {
    const service = await served()
    const owner = await firstOwner(service)
    person({ boss: { email: 'owner@example.com', groups: ['sluice-admins'] } })
    const refused = await signInAt(service, { login: 'boss' })
    expect(refusedOf(refused.url)).to.equal('last-owner')
    expect(refused.session.cookie).to.equal('')
    expect((await owner.send('GET', '/v1/session')).json.member).to.not.have.property('organisation')
    const [entry] = (await owner.send('GET', '/v1/audit')).json.entries
    expect(entry.details).to.deep.include({ by: 'oidc', reason: 'last-owner' })
    await newMember(service, owner, { email: 'emergency@example.com', role: 'owner' })
    const { session } = await signInAt(service, { login: 'boss' })
    const { member } = (await session.send('GET', '/v1/session')).json
    expect(member).to.deep.include({ role: 'owner', organisation: true, email: 'owner@example.com' })
  })

  it('makes nobody a member under an address that is not verified, unless this is configured', async () => {
    const ida = { email: 'ceo@example.com', email_verified: false, groups: ['guests'] }
    person({ ida })
    const service = await served()
    expect(refusedOf((await signInAt(service, { login: 'ida' })).url)).to.equal('unverified')
    const other = await served({ OIDC_UNVERIFIED_EMAIL: 'on' })
    const { session } = await signInAt(other, { login: 'ida' })
    expect((await session.send('GET', '/v1/session')).status).to.equal(200)
  })

  it('refuses other domains, and addresses that are not verified', async () => {
    const service = await served({ OIDC_EMAIL_DOMAINS: 'example.com' })
    const guests = { groups: ['guests'] }
    person({
      good: { email: 'good@EXAMPLE.com', email_verified: true, ...guests },
      unverified: { email: 'u@example.com', email_verified: false, ...guests },
      other: { email: 'good@example.com@example.org', email_verified: true, ...guests },
      sub: { email: 'x@sub.example.com', email_verified: true, ...guests },
      none: guests,
    })
    const outcome = async (login: string) => refusedOf((await signInAt(service, { login })).url)
    expect(await outcome('good')).to.equal(null)
    expect(await outcome('unverified')).to.equal('domain')
    expect(await outcome('sub')).to.equal('domain')
    expect(await outcome('other')).to.equal('email')
    expect(await outcome('none')).to.equal('email')
  })

  it('ends the sessions of its members when the issuer is removed from the configuration', async () => {
    const service = await served()
    await firstOwner(service)
    person({ dan: { email: 'dan@example.com', groups: ['guests'] } })
    const { session } = await signInAt(service, { login: 'dan' })
    await service.stop({ keepData: true })
    const other = await start({ dataDir: service.dataDir })
    const own = Object.assign(browser(other), { cookie: session.cookie })
    expect((await own.send('GET', '/v1/session')).status).to.equal(401)
    expect((await fetch(`${other.url}/v1/session/oidc`)).status).to.equal(404)
    // An owner gives such a member a password.
    const owner = browser(other)
    await owner.signIn('owner@example.com')
    const members: { id: string; email: string; organisation?: true }[] = (
      await owner.send('GET', '/v1/members')
    ).json.members
    const [, found] = members
    expect(found).to.include({ email: 'dan@example.com' }).and.not.to.have.property('organisation')
    const { link } = (await owner.send('POST', `/v1/members/${found?.id}/link`)).json
    const use = { link: new URL(link).hash.slice(1), password: PASSWORD }
    expect((await browser(other).send('PUT', '/v1/session/link', use)).status).to.equal(200)
    expect((await browser(other).signIn('dan@example.com')).status).to.equal(200)
  })

  it('signs out at the issuer too', async () => {
    const service = await served()
    person({ fay: { email: 'fay@example.com', groups: ['guests'] } })
    const { own } = await signInAt(service, { login: 'fay' })
    const response = await own.visit(`${service.url}/v1/session/oidc/sign-out`)
    const location = new URL(response.headers.get('location') ?? '')
    expect(location.href.split('?')[0]).to.equal(`${issuer.url}/session/end`)
    expect(location.searchParams.get('post_logout_redirect_uri')).to.equal(`${service.url}/dashboard/sign-in`)
    const { html } = await own.follow(location.href)
    const [, action = ''] = /<form[^>]+action="([^"]+)"/.exec(html) ?? []
    const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(html) ?? []
    const { url } = await own.follow(action, { form: { xsrf, logout: 'yes' } })
    expect(url).to.equal(`${service.url}/dashboard/sign-in`)
    // The next sign-in asks for a login again.
    expect((await own.follow(`${service.url}/v1/session/oidc`)).html).to.include('name="login"')
  })
})
