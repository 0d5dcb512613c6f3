import { expect } from 'chai'
import { browser, PASSWORD } from '../../support/console/browser.ts'
import { operated } from '../../support/programs/operated.ts'

describe('sluice sign-in-link', () => {
  const own = operated()

  it('prints a link for the first owner, and then for a forgotten password', async () => {
    const server = await own.start()
    const first = await own.sluice('sign-in-link')
    expect(first).to.include({ code: 0, stderr: '' })
    const link = first.stdout.trim()
    expect(link).to.match(/^http:\/\/127\.0\.0\.1:\d+\/dashboard\/welcome#lnk_[\w.-]+$/)
    const owner = browser(server)
    expect((await owner.follow(link, { email: 'ada@example.com' })).status).to.equal(200)

    const again = await own.json<{ link: string; email: string; expiresAt: string }>('sign-in-link')
    expect(again.email).to.equal('ada@example.com')
    expect(Date.parse(again.expiresAt) - Date.now()).to.be.within(10 * 60_000, 15 * 60_000)
    const other = browser(server)
    await other.follow(again.link, { password: `${PASSWORD}!` })
    expect((await owner.send('GET', '/v1/session')).status).to.equal(401)

    const invited = { email: 'bea@example.com', role: 'owner' }
    const { link: invitation } = (await other.send('POST', '/v1/members', invited)).json
    await browser(server).follow(invitation)
    const unclear = await own.sluice('sign-in-link')
    expect(unclear).to.include({ code: 1, stdout: '' })
    expect(unclear.stderr).to.include('ada@example.com and bea@example.com')
    const named = await own.json<{ email: string }>('sign-in-link', 'BEA@example.com')
    expect(named.email).to.equal('bea@example.com')
    expect((await own.sluice('sign-in-link', 'none@example.com')).stderr).to.include('There is no member')
    expect(JSON.stringify(server.log.lines)).to.not.include('lnk_')
    expect(await own.json('check')).to.deep.include({ others: 0, findings: {} })
  })

  it('prints a link that works at the next start, while no server runs', async () => {
    const before = await own.start()
    await own.end(before)
    const { stdout } = await own.sluice('sign-in-link')
    expect(stdout).to.match(/^http:\/\/localhost:3000\/dashboard\/welcome#lnk_/)
    const server = await own.start()
    const { status } = await browser(server).follow(stdout.trim(), { email: 'ada@example.com' })
    expect(status).to.equal(200)
  })
})
