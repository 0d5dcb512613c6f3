import { expect } from 'chai'
import { S3_REDIS, stoppedAtTheEnd } from '../../support/backends.ts'
import { type Browser, browser, firstOwner, newMember, PASSWORD } from '../../support/console/browser.ts'
import { eventually } from '../../support/eventually.ts'
import { sluice } from '../../support/programs/sluice.ts'
import { type Service, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

// A process reads the changes of others every two seconds.

describe('the console of several processes on S3 and Redis', function () {
  this.timeout(90_000)
  const start = stoppedAtTheEnd(startService)
  let env: Record<string, string>
  let here: Service
  let elsewhere: Service
  let owner: Browser

  before(async () => {
    const dataDir = await temporaryFolder()
    env = { ...(await S3_REDIS.env(dataDir)), DATA_DIR: dataDir }
    here = await start({ env, dataDir })
    elsewhere = await start({ env, dataDir })
    owner = await firstOwner(here)
  })

  /** The same browser, whose requests reach the other process. */
  function at(service: Service, { cookie }: Browser): Browser {
    return Object.assign(browser(service), { cookie })
  }
  const statusAt = async (service: Service, own: Browser) =>
    (await at(service, own).send('GET', '/v1/session')).status

  it('knows a member, a session and a new password of another process at once', async () => {
    expect(await statusAt(elsewhere, owner)).to.equal(200)
    const bea = await newMember(here, owner, { email: 'bea@example.com', role: 'editor' })
    expect(await statusAt(elsewhere, bea)).to.equal(200)
    const change = { currentPassword: PASSWORD, newPassword: `${PASSWORD}!` }
    await bea.send('PATCH', '/v1/session', change)
    expect(await statusAt(elsewhere, bea)).to.equal(200)
    const there = browser(elsewhere)
    expect((await there.signIn('bea@example.com')).status).to.equal(401)
    expect((await there.signIn('bea@example.com', `${PASSWORD}!`)).status).to.equal(200)
  })

  it('uses a link once, although two processes receive it at once', async () => {
    const { link } = (await owner.send('POST', '/v1/members', { email: 'c@example.com', role: 'viewer' }))
      .json
    const uses = await Promise.all([here, elsewhere].map((service) => browser(service).follow(link)))
    expect(uses.map(({ status }) => status).sort()).to.deep.equal([200, 410])
  })

  it('ends access in all processes within seconds', async () => {
    const members = ['d', 'e', 'f'].map((name) =>
      newMember(here, owner, { email: `${name}@example.com`, role: 'owner' }),
    )
    const [removed, demoted, left] = await Promise.all(members)
    if (!removed || !demoted || !left) throw new Error('three members were invited')
    const clientsOf = async (own: Browser) => (await at(elsewhere, own).send('GET', '/v1/clients')).status
    for (const each of [removed, demoted, left]) expect(await clientsOf(each)).to.equal(200)
    await owner.send('DELETE', `/v1/members/${removed.id}`)
    await owner.send('PATCH', `/v1/members/${demoted.id}`, { role: 'viewer' })
    await at(here, left).send('DELETE', '/v1/session')
    await eventually(async () => {
      expect([await clientsOf(removed), await clientsOf(demoted), await clientsOf(left)]).to.deep.equal([
        401, 403, 401,
      ])
    })
  })

  it('gets a link of the command line, which runs in a process of its own', async () => {
    const { code, stdout, stderr } = await sluice(['sign-in-link', 'owner@example.com'], env)
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' })
    const again = browser(elsewhere)
    expect((await again.follow(stdout.trim(), { password: `${PASSWORD}!!` })).status).to.equal(200)
    await eventually(async () => expect(await statusAt(here, owner)).to.equal(401))
  })
})
