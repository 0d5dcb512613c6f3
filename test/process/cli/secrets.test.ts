import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import { picture } from '../../support/media/images.ts'
import { asCaller, isAccepted, operated } from '../../support/programs/operated.ts'
import { uploadOne } from '../../support/requests/client.ts'

describe('commands for keys and scoped secrets', () => {
  const own = operated()
  let png: Buffer
  before(async () => {
    png = await picture()
  })

  it('adds keys for delivery URLs, which are shown only now, and removes them', async () => {
    const server = await own.start()
    const client = await own.newClient()
    const { src } = await uploadOne(asCaller(server, client), { name: 'a.png', bytes: png })
    const needs = await own.sluice('client', 'set', client.id, '--signed-urls', 'on')
    expect(needs.code).to.equal(1)
    expect(needs.stderr).to.include('need a key')
    const { stdout } = await own.sluice('client', 'key', 'add', client.id)
    const [, key = ''] = /^key +([\w-]{43})$/m.exec(stdout) ?? []
    const { urlKeys } = await own.json<{ urlKeys: number[] }>('client', 'key', 'add', client.id)
    expect(urlKeys).to.deep.equal([1, 2])
    await own.sluice('client', 'set', client.id, '--signed-urls', 'on')
    const { pathname } = new URL(src)
    const signature = createHmac('sha256', key).update(pathname).digest('base64url')
    const get = async (query: string) => (await fetch(`${src}${query}`)).status
    expect([await get(''), await get(`?s=1.${signature}`)]).to.deep.equal([403, 200])
    const list = await own.sluice('client', 'list')
    expect(list.stdout).to.include('signed URLs only').and.not.include(key)
    await own.sluice('client', 'key', 'remove', client.id, '1')
    expect(await get(`?s=1.${signature}`)).to.equal(403)
    const wrong = await own.sluice('client', 'key', 'remove', client.id, 'one')
    expect([wrong.code, wrong.stderr.includes('expected a version')]).to.deep.equal([2, true])
  })

  it('creates scoped secrets, lists them, and revokes them', async () => {
    const server = await own.start()
    const client = await own.newClient()
    const { code, stdout } = await own.sluice(
      'client',
      'secret',
      'add',
      client.id,
      '--only',
      'upload',
      '--folder',
      'a/b',
      '--valid',
      '30d',
      '--name',
      'app',
    )
    expect(code).to.equal(0)
    expect(stdout).to.match(/^scope +upload only, in a\/b$/m)
    const [, secretId = ''] = /^secret id +(\S+)$/m.exec(stdout) ?? []
    const [, secret = ''] = /^secret client token +(sec_\w+)$/m.exec(stdout) ?? []
    expect(await isAccepted(asCaller(server, client), secret)).to.equal(true)

    expect((await own.lines('client', 'list'))[2]).to.match(/ {2}active, 1 scoped secret$/)
    const shown = (await own.sluice('client', 'show', client.id)).stdout
    expect(shown).to.not.include('sec_')
    expect(shown).to.match(new RegExp(`^${secretId} +app +upload only, in a/b +\\d{4}-\\S+Z$`, 'm'))
    const json = await own.json<{ secrets: object[] }>('client', 'show', client.id)
    expect(json.secrets[0]).to.include({ id: secretId, name: 'app', only: 'upload', folder: 'a/b' })

    const removed = await own.sluice('client', 'secret', 'remove', client.id, secretId)
    expect(removed).to.include({ code: 0 })
    expect(removed.stdout).to.not.include(secretId)
    expect(await isAccepted(asCaller(server, client), secret)).to.equal(false)
    expect((await own.sluice('client', 'secret', 'remove', client.id, secretId)).code).to.equal(1)
    expect((await own.sluice('client', 'secret', 'add', client.id, '--only', 'manage')).code).to.equal(2)
  })
})
