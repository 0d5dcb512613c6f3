import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { picture } from '../../support/media/images.ts'
import { asCaller, isAccepted, type NewClient, operated } from '../../support/programs/operated.ts'
import { sluice } from '../../support/programs/sluice.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { filesInBucket } from '../../support/stored/state.ts'

describe('commands for clients', () => {
  const own = operated()
  let png: Buffer
  before(async () => {
    png = await picture()
  })

  it('creates a client that works at once, and shows its secret only now', async () => {
    const server = await own.start()
    const { code, stdout, stderr } = await own.sluice('client', 'create', '--name', 'My shop')
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' })
    const [, id = ''] = /^client +(\S+)$/m.exec(stdout) ?? []
    const [, clientToken = ''] = /^client token \(public, in URLs\) +(pub_\w+)$/m.exec(stdout) ?? []
    const [, secretClientToken = ''] = /^secret client token +(sec_\w+)$/m.exec(stdout) ?? []
    expect(await isAccepted(asCaller(server, { id, clientToken, secretClientToken }))).to.equal(true)

    const list = await own.sluice('client', 'list')
    expect(list.stdout).to.not.include('sec_')
    const [head = '', first, second] = list.stdout.split('\n')
    expect(first).to.match(/^first +pub_\w+ +\d{4}-\S+Z +active$/)
    expect(second).to.match(new RegExp(`^${id} +My shop +${clientToken} +\\S+ +active$`))
    // Aligned.
    expect(second?.indexOf('My shop')).to.equal(head.indexOf('NAME'))
    expect(second?.indexOf(clientToken)).to.equal(head.indexOf('CLIENT TOKEN'))
  })

  it('prints JSON for programs', async () => {
    await own.start()
    const client = await own.newClient()
    expect(client).to.have.keys('id', 'clientToken', 'secretClientToken', 'createdAt', 'state')
    const list = await own.json<object[]>('client', 'list')
    expect(list).to.have.length(2)
    expect(JSON.stringify(list)).to.not.match(/sec_|digest|ecret/)
    expect(await own.json('check')).to.deep.equal({
      originals: 0,
      derivatives: 0,
      others: 0,
      inProgress: 0,
      findings: {},
    })
  })

  it('rotates the secret of a client, and accepts the old one for the given time', async () => {
    const server = await own.start()
    const old = await own.newClient()
    const fresh = await own.json<NewClient>('client', 'rotate', old.id, '--keep-old', '2h')
    const caller = asCaller(server, fresh)
    expect(await isAccepted(caller, old.secretClientToken)).to.equal(true)
    expect(await isAccepted(caller)).to.equal(true)
    expect((await own.lines('client', 'list'))[2]).to.match(/active, old secret until \S+Z$/)
    const last = await own.json<NewClient>('client', 'rotate', old.id, '--keep-old', '0s')
    expect(await isAccepted(caller, old.secretClientToken)).to.equal(false)
    expect(await isAccepted(caller)).to.equal(false)
    expect(await isAccepted(asCaller(server, last))).to.equal(true)
  })

  it('rotates the secret of the first client, which the next start uses', async () => {
    const server = await own.start()
    const { secretClientToken } = await own.json<NewClient>('client', 'rotate', 'first')
    const file = join(own.dataDir, 'credentials.json')
    expect(JSON.parse(await readFile(file, 'utf8'))).to.deep.equal({ ...server.tokens, secretClientToken })
    expect((await stat(file)).mode & 0o777).to.equal(0o600)
    await own.end(server)
    const next = await own.start()
    expect(next.tokens.secretClientToken).to.equal(secretClientToken)
    for (const secret of [secretClientToken, server.tokens.secretClientToken])
      expect(await isAccepted(next, secret)).to.equal(true)
  })

  it('does not change a secret that the environment sets', async () => {
    const env = { CLIENT_TOKEN: 'pub_of_the_first', SECRET_CLIENT_TOKEN: 'sec_of_the_first_one' }
    const server = await own.start(env)
    const { code, stderr } = await sluice(['client', 'rotate', 'first'], { ...own.env, ...env })
    expect(code).to.equal(1)
    expect(stderr).to.include('SECRET_CLIENT_TOKEN')
    expect(await isAccepted(server)).to.equal(true)
  })

  it('removes a client with its files only with --files', async () => {
    const server = await own.start()
    const client = await own.newClient()
    await uploadOne(asCaller(server, client), { name: 'a.png', bytes: png })
    const refused = await own.sluice('client', 'remove', client.id)
    expect(refused.code).to.equal(1)
    expect(refused.stderr).to.match(/^sluice: .*has files/)
    const { code, stdout } = await own.sluice('client', 'remove', client.id, '--files')
    expect({ code, stdout }).to.deep.equal({
      code: 0,
      stdout: 'removed, with 1 original and all derivatives\n',
    })
    expect(await isAccepted(asCaller(server, client))).to.equal(false)
    expect(await filesInBucket(own.dataDir)).to.deep.equal([])
    expect((await own.sluice('client', 'remove', 'first', '--files')).code).to.equal(1)
  })
})
