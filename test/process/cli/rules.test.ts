import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { picture } from '../../support/media/images.ts'
import { asCaller, operated } from '../../support/programs/operated.ts'
import { postFiles, uploadOne } from '../../support/requests/client.ts'
import type { Service } from '../../support/service.ts'

describe('commands for rules', () => {
  const own = operated([before, after])
  let server: Service
  let png: Buffer
  before(async () => {
    png = await picture()
    server = await own.start({ UPLOAD_MAX_BYTES: '100000' })
  })

  it('sets the rules of a client, and lists them', async () => {
    const client = await own.newClient()
    const { src } = await uploadOne(asCaller(server, client), { name: 'a.png', bytes: png })
    const get = async (query: string) => (await fetch(`${src}?${query}`)).status
    expect(await get('w=20')).to.equal(200)
    const set = (...rules: string[]) => own.sluice('client', 'set', client.id, ...rules)
    const { code, stdout, stderr } = await set(
      ...['--presets-only', 'on', '--allowed-widths', '640,320', '--variant-limit', '7'],
    )
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' })
    expect(stdout).to.equal(
      `client  ${client.id}\nrules   presets only; widths 320, 640; at most 7 derivatives per file\n`,
    )
    expect(await get('w=20')).to.equal(403)
    expect((await own.lines('client', 'list')).find((line) => line.includes(client.id))).to.match(
      / {2}active {2,}presets only; widths 320, 640; at most 7 derivatives per file$/,
    )
    const listed = async () =>
      (await own.json<{ id: string }[]>('client', 'list')).find(({ id }) => id === client.id)
    expect(await listed()).to.deep.include({
      rules: { presetsOnly: true, allowedWidths: [320, 640], variantLimit: 7 },
    })

    expect((await set('--presets-only', 'off')).stdout).to.match(
      /^rules +widths 320, 640; at most 7 derivatives/m,
    )
    expect(await get('w=20')).to.equal(200)
    const last = await set('--allowed-widths', 'any', '--variant-limit', 'default')
    expect(last.stdout).to.match(/^rules +none \(the defaults apply\)$/m)
    expect(await listed())
      .to.include({ id: client.id })
      .and.not.have.property('rules')
    const refused = await set('--allowed-widths', '320,5001')
    expect(refused.code).to.equal(1)
    expect(refused.stderr).to.match(/^sluice: expected 1 to 100 integers from 1 to 5000 px for allowedWidths/)
    expect((await own.sluice('client', 'set', 'nobody', '--presets-only', 'on')).code).to.equal(1)
  })

  it('resets private folders by the word of other rules', async () => {
    const { id } = await own.newClient()
    await own.sluice('client', 'key', 'add', id)
    const set = async (folders: string) => {
      const { stdout, stderr } = await own.sluice('client', 'set', id, '--private-folders', folders)
      expect(stderr).to.equal('')
      return stdout.split('\n')[1]
    }
    expect(await set('invoices,users/a')).to.equal('rules   private folders invoices, users/a')
    for (const word of ['off', 'none']) {
      expect(await set(word)).to.equal('rules   none (the defaults apply)')
      expect(await set('off,none')).to.equal('rules   private folders off, none')
    }
  })

  it('sets the servers from which a client may fetch', async () => {
    const set = async (...rules: string[]) =>
      (await own.sluice('client', 'set', 'first', ...rules)).stdout.split('\n')[1]
    expect(await set('--fetch-hosts', 'example.com,*.cdn.example')).to.equal(
      'rules   fetches from example.com, *.cdn.example',
    )
    expect(await set('--fetch-hosts', 'any', '--fetch-deny-hosts', 'a.example')).to.equal(
      'rules   fetches from any host; never fetches from a.example',
    )
    expect(await set('--fetch-hosts', 'none', '--fetch-deny-hosts', 'none')).to.equal(
      'rules   fetches from no host',
    )
    expect(await set('--fetch-hosts', 'default')).to.equal('rules   none (the defaults apply)')
    const refused = await own.sluice('client', 'set', 'first', '--fetch-hosts', 'http://a.example')
    expect(refused.code).to.equal(1)
    expect(refused.stderr).to.match(/^sluice: expected at most 100 hosts like example.com/)
  })

  it('sets limits and presets of a client', async () => {
    const client = await own.newClient()
    const { src } = await uploadOne(asCaller(server, client), { name: 'a.png', bytes: png })
    const set = (...rules: string[]) => own.sluice('client', 'set', client.id, ...rules)
    const file = join(own.dataDir, 'presets.json')
    await writeFile(file, JSON.stringify({ card: { w: 30 } }))
    const { code, stdout, stderr } = await set(
      ...['--upload-max-bytes', '50', '--rate', 'zip=100', '--rate', 'upload=0', '--presets', file],
    )
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' })
    expect(stdout).to.match(
      /^rules +uploads of at most 50 bytes; zip rate limit 100; upload rate limit off; presets card$/m,
    )
    expect((await fetch(`${src}?preset=card`)).status).to.equal(200)
    expect((await postFiles(asCaller(server, client), [{ name: 'a.png', bytes: png }])).status).to.equal(413)
    expect((await set('--rate', 'zip=default')).stdout).to.match(
      /^rules +uploads of at most 50 bytes; upload rate limit o/m,
    )
    const last = await set('--upload-max-bytes', 'default', '--rate', 'upload=default', '--presets', 'none')
    expect(last.stdout).to.match(/^rules +none \(the defaults apply\)$/m)
    await writeFile(file, JSON.stringify({ card: { w: 0 } }))
    const refused = await set('--presets', file)
    expect(refused.code).to.equal(1)
    expect(refused.stderr).to.match(/^sluice: card: expected an integer from 1 to 5000.* for w /)
    expect((await set('--presets', join(own.dataDir, 'none.json'))).code).to.equal(2)
    expect((await set('--rate', 'zip')).code).to.equal(2)
  })
})
