import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { browser, firstOwner, PASSWORD, tokenIn } from '../../support/console/browser.ts'

onOneBackend('links to the console', (start) => {
  it('create the first owner on the first visit', async () => {
    const service = await start()
    const link = service.app.firstVisit() ?? ''
    const own = browser(service)
    const { json } = await own.send('POST', '/v1/session/link', { link: tokenIn(link) })
    expect(json).to.include({ purpose: 'setup', role: 'owner' })
    expect(Date.parse(json.expiresAt) - Date.now()).to.be.within(14 * 60_000, 15 * 60_000)
    expect((await own.follow(link)).json.param).to.equal('email')
    const { status, json: session } = await own.follow(link, { email: 'Ada@Example.com' })
    expect(status).to.equal(200)
    expect(session.member).to.include({ email: 'ada@example.com', name: 'Ada', role: 'owner' })
    expect(service.app.firstVisit()).to.equal(undefined)
  })

  it('are used once, also by several requests at once', async () => {
    const service = await start()
    const links = [service.app.firstVisit() ?? '', service.app.firstVisit() ?? '']
    const uses = await Promise.all(
      [...links, ...links].map((link, n) => browser(service).follow(link, { email: `${n}@example.com` })),
    )
    expect(uses.map(({ status }) => status).sort()).to.deep.equal([200, 410, 410, 410])
    const own = await browser(service).signIn(uses.find(({ status }) => status === 200)?.json.member.email)
    expect(own.json.member.role).to.equal('owner')
  })

  it('are refused when they were changed or forged', async () => {
    const service = await start()
    const owner = await firstOwner(service)
    const invited = await owner.send('POST', '/v1/members', { email: 'b@example.com', role: 'viewer' })
    const token = tokenIn(invited.json.link)
    const [payload = '', signature = ''] = token.slice(4).split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const changed = Buffer.from(JSON.stringify({ ...claims, until: claims.until + 1 })).toString('base64url')
    const session = owner.cookie.slice('sluice_session='.length)
    for (const forged of [
      '',
      'lnk_',
      `lnk_${changed}.${signature}`,
      `lnk_${payload}.${'A'.repeat(43)}`,
      `ses_${payload}.${signature}`,
      `lnk_${session.slice(4)}`,
      session,
      `${token}x`,
      'x'.repeat(1000),
    ]) {
      const { status, json } = await browser(service).follow(`${service.url}/#${forged}`)
      expect([status, json.code], forged).to.deep.equal([410, 'link_expired'])
    }
    const huge = await browser(service).follow(`${service.url}/#${'x'.repeat(1001)}`)
    expect(huge.json.code).to.equal('bad_parameter')
    const asCookie = browser(service)
    asCookie.cookie = `sluice_session=${token.replace('lnk', 'ses')}`
    expect((await asCookie.send('GET', '/v1/session')).status).to.equal(401)
    expect((await browser(service).follow(invited.json.link)).status).to.equal(200)
  })

  it('refuse passwords that are too short or too long, and do not repeat them', async () => {
    const service = await start()
    const link = service.app.firstVisit() ?? ''
    const own = browser(service)
    const email = 'a@example.com'
    for (const password of ['', 'too short', 'x'.repeat(257), 1234567890, null, ['x'.repeat(12)]]) {
      const { status, json } = await own.follow(link, { email, password })
      expect(status, String(password)).to.equal(400)
      expect(json).to.include({ code: 'bad_parameter', param: 'password', expected: '10 to 256 characters' })
      expect(JSON.stringify(json)).to.not.match(/too short|xxx|1234567890/)
    }
    const tooLarge = await own.follow(link, { email, password: 'x'.repeat(100_000) })
    expect(tooLarge.json.code).to.equal('too_large')
    const longest = '\u{1f511}'.repeat(128)
    expect((await own.follow(link, { email, password: longest })).status).to.equal(200)
    expect((await own.signIn(email, longest)).status).to.equal(200)
    expect((await own.signIn(email, 'x'.repeat(257))).status).to.equal(400)
    expect((await own.signIn(email, `${PASSWORD}x`)).status).to.equal(401)
  })
})
