import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { recordKey, storedKey } from '../../../src/core/files/object-key.ts'
import { version } from '../../../src/process/version.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { builtScript } from '../../support/programs/built-script.ts'
import { type Ended, sluice, sluiceJson, startCli } from '../../support/programs/cli.ts'
import { type Caller, deleteFile, postFiles, uploadOne } from '../../support/requests/client.ts'
import { openSocket } from '../../support/requests/exchange.ts'
import { type RunningServer, startProcess } from '../../support/servers/process.ts'
import { s3Server } from '../../support/servers/s3-server.ts'
import { PROJECT } from '../../support/service.ts'
import { filesInBucket } from '../../support/stored/state.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const CRASHING = [await builtScript('crash-server')]

interface NewClient {
  id: string
  clientToken: string
  secretClientToken: string
}

describe('the sluice command', function () {
  this.timeout(60_000)
  let dataDir: string
  let env: Record<string, string>
  let png: Buffer
  const servers = new Set<RunningServer>()

  before(async () => {
    png = await picture()
  })
  beforeEach(async () => {
    dataDir = await temporaryFolder()
    env = { DATA_DIR: dataDir }
  })
  afterEach(async () => {
    for (const server of servers) await end(server, 'SIGKILL')
    await rm(dataDir, { recursive: true, force: true })
  })

  async function start(options: Partial<Parameters<typeof startProcess>[0]> = {}): Promise<RunningServer> {
    const server = await startProcess({ ...options, env: { ...env, ...options.env } })
    servers.add(server)
    return server
  }

  async function end(server: RunningServer, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    servers.delete(server)
    server.child.kill(signal)
    await server.ended
  }

  const asCaller = ({ url }: RunningServer, tokens: NewClient): Caller => ({ url, tokens })

  async function isAccepted(caller: Caller, secret = caller.tokens.secretClientToken): Promise<boolean> {
    return (await postFiles(caller, [{ name: 'a.png', bytes: png }], { secret })).status === 200
  }

  async function lines(command: Promise<Ended>): Promise<string[]> {
    const { stdout } = await command
    return stdout.trimEnd().split('\n')
  }

  describe('with a running server', () => {
    it('creates a client that works at once, and shows its secret only now', async () => {
      const server = await start()
      const { code, stdout, stderr } = await sluice(['client', 'create', '--name', 'My shop'], env)
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' })
      const [, id = ''] = /^client +(\S+)$/m.exec(stdout) ?? []
      const [, clientToken = ''] = /^client token \(public, in URLs\) +(pub_\w+)$/m.exec(stdout) ?? []
      const [, secretClientToken = ''] = /^secret client token +(sec_\w+)$/m.exec(stdout) ?? []
      expect(await isAccepted(asCaller(server, { id, clientToken, secretClientToken }))).to.equal(true)

      const list = await sluice(['client', 'list'], env)
      expect(list.stdout).to.not.include('sec_')
      const [head = '', first, second] = list.stdout.split('\n')
      expect(first).to.match(/^first +pub_\w+ +\d{4}-\S+Z +active$/)
      expect(second).to.match(new RegExp(`^${id} +My shop +${clientToken} +\\S+ +active$`))
      // Aligned.
      expect(second?.indexOf('My shop')).to.equal(head.indexOf('NAME'))
      expect(second?.indexOf(clientToken)).to.equal(head.indexOf('CLIENT TOKEN'))
    })

    it('prints JSON for programs', async () => {
      await start()
      const client = await sluiceJson<NewClient>(['client', 'create'], env)
      expect(client).to.have.keys('id', 'clientToken', 'secretClientToken', 'createdAt', 'state')
      const list = await sluiceJson<object[]>(['client', 'list'], env)
      expect(list).to.have.length(2)
      expect(JSON.stringify(list)).to.not.match(/sec_|digest|ecret/)
      expect(await sluiceJson(['check'], env)).to.deep.equal({
        originals: 0,
        derivatives: 0,
        others: 0,
        inProgress: 0,
        findings: {},
      })
    })

    it('adds keys for delivery URLs, which are shown only now, and removes them', async () => {
      const server = await start()
      const client = await sluiceJson<NewClient>(['client', 'create'], env)
      const { src } = await uploadOne(asCaller(server, client), { name: 'a.png', bytes: png })
      const needs = await sluice(['client', 'set', client.id, '--signed-urls', 'on'], env)
      expect(needs.code).to.equal(1)
      expect(needs.stderr).to.include('need a key')
      const { stdout } = await sluice(['client', 'key', 'add', client.id], env)
      const [, key = ''] = /^key +([\w-]{43})$/m.exec(stdout) ?? []
      const { urlKeys } = await sluiceJson<{ urlKeys: number[] }>(['client', 'key', 'add', client.id], env)
      expect(urlKeys).to.deep.equal([1, 2])
      await sluice(['client', 'set', client.id, '--signed-urls', 'on'], env)
      const { pathname } = new URL(src)
      const signature = createHmac('sha256', key).update(pathname).digest('base64url')
      const get = async (query: string) => (await fetch(`${src}${query}`)).status
      expect([await get(''), await get(`?s=1.${signature}`)]).to.deep.equal([403, 200])
      const list = await sluice(['client', 'list'], env)
      expect(list.stdout).to.include('signed URLs only').and.not.include(key)
      await sluice(['client', 'key', 'remove', client.id, '1'], env)
      expect(await get(`?s=1.${signature}`)).to.equal(403)
      const wrong = await sluice(['client', 'key', 'remove', client.id, 'one'], env)
      expect([wrong.code, wrong.stderr.includes('expected a version')]).to.deep.equal([2, true])
    })

    it('sets the rules of a client, and lists them', async () => {
      const server = await start()
      const client = await sluiceJson<NewClient>(['client', 'create'], env)
      const { src } = await uploadOne(asCaller(server, client), { name: 'a.png', bytes: png })
      const get = async (query: string) => (await fetch(`${src}?${query}`)).status
      expect(await get('w=20')).to.equal(200)
      const set = (...rules: string[]) => sluice(['client', 'set', client.id, ...rules], env)
      const { code, stdout, stderr } = await set(
        ...['--presets-only', 'on', '--allowed-widths', '640,320', '--variant-limit', '7'],
      )
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' })
      expect(stdout).to.equal(
        `client  ${client.id}\nrules   presets only; widths 320, 640; at most 7 derivatives per file\n`,
      )
      expect(await get('w=20')).to.equal(403)
      expect((await lines(sluice(['client', 'list'], env)))[2]).to.match(
        / {2}active {2,}presets only; widths 320, 640; at most 7 derivatives per file$/,
      )
      expect((await sluiceJson<object[]>(['client', 'list'], env))[1]).to.deep.include({
        rules: { presetsOnly: true, allowedWidths: [320, 640], variantLimit: 7 },
      })

      expect((await set('--presets-only', 'off')).stdout).to.match(
        /^rules +widths 320, 640; at most 7 derivatives/m,
      )
      expect(await get('w=20')).to.equal(200)
      const last = await set('--allowed-widths', 'any', '--variant-limit', 'default')
      expect(last.stdout).to.match(/^rules +none \(the defaults apply\)$/m)
      expect((await sluiceJson<object[]>(['client', 'list'], env))[1]).to.not.have.property('rules')
      const refused = await set('--allowed-widths', '320,5001')
      expect(refused.code).to.equal(1)
      expect(refused.stderr).to.match(
        /^sluice: expected 1 to 100 integers from 1 to 5000 px for allowedWidths/,
      )
      expect((await sluice(['client', 'set', 'nobody', '--presets-only', 'on'], env)).code).to.equal(1)
    })

    it('sets the servers from which a client may fetch', async () => {
      await start()
      const set = async (...rules: string[]) =>
        (await sluice(['client', 'set', 'first', ...rules], env)).stdout.split('\n')[1]
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
      const refused = await sluice(['client', 'set', 'first', '--fetch-hosts', 'http://a.example'], env)
      expect(refused.code).to.equal(1)
      expect(refused.stderr).to.match(/^sluice: expected at most 100 hosts like example.com/)
    })

    it('sets limits and presets of a client', async () => {
      const server = await start({ env: { UPLOAD_MAX_BYTES: '100000' } })
      const client = await sluiceJson<NewClient>(['client', 'create'], env)
      const { src } = await uploadOne(asCaller(server, client), { name: 'a.png', bytes: png })
      const set = (...rules: string[]) => sluice(['client', 'set', client.id, ...rules], env)
      const file = join(dataDir, 'presets.json')
      await writeFile(file, JSON.stringify({ card: { w: 30 } }))
      const { code, stdout, stderr } = await set(
        ...['--upload-max-bytes', '50', '--rate', 'zip=100', '--rate', 'upload=0', '--presets', file],
      )
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' })
      expect(stdout).to.match(
        /^rules +uploads of at most 50 bytes; zip rate limit 100; upload rate limit off; presets card$/m,
      )
      expect((await fetch(`${src}?preset=card`)).status).to.equal(200)
      expect((await postFiles(asCaller(server, client), [{ name: 'a.png', bytes: png }])).status).to.equal(
        413,
      )
      expect((await set('--rate', 'zip=default')).stdout).to.match(
        /^rules +uploads of at most 50 bytes; upload rate limit o/m,
      )
      const last = await set('--upload-max-bytes', 'default', '--rate', 'upload=default', '--presets', 'none')
      expect(last.stdout).to.match(/^rules +none \(the defaults apply\)$/m)
      await writeFile(file, JSON.stringify({ card: { w: 0 } }))
      const refused = await set('--presets', file)
      expect(refused.code).to.equal(1)
      expect(refused.stderr).to.match(/^sluice: card: expected an integer from 1 to 5000.* for w /)
      expect((await set('--presets', join(dataDir, 'none.json'))).code).to.equal(2)
      expect((await set('--rate', 'zip')).code).to.equal(2)
    })

    it('sets the own bucket of a client, and reads its secret key without showing it', async () => {
      const server = await start()
      const s3 = await s3Server()
      const { endpoint, credentials } = s3.connection
      const bucket = await s3.newBucket()
      const options = [
        '--bucket',
        bucket,
        '--endpoint',
        endpoint,
        '--path-style',
        '--access-key-id',
        credentials.accessKeyId,
      ]
      const withKey = (key: string) => ({ ...env, STORAGE_SECRET_ACCESS_KEY: key })
      const client = await sluiceJson<NewClient>(['client', 'create'], env)
      const wrong = await sluice(['client', 'storage', client.id, ...options], withKey('wrong'))
      expect(wrong.code).to.equal(1)
      expect(wrong.stderr).to.match(/^sluice: the bucket cannot be used: .*SignatureDoesNotMatch/)
      const { child, ended } = startCli(['client', 'storage', client.id, ...options, '--prefix', 'one'], env)
      child.stdin?.end(`${credentials.secretAccessKey}\n`)
      const given = await ended
      expect(given).to.include({ code: 0, stderr: '' })
      expect(given.stdout).to.match(
        new RegExp(`^bucket +${bucket}, folder one/ at ${endpoint}, access key testkey$`, 'm'),
      )
      expect(given.stdout).to.not.include(credentials.secretAccessKey)
      const record = await uploadOne(asCaller(server, client), { name: 'a.png', bytes: png })
      expect(record.originalSrc).to.equal(`${endpoint}/${bucket}/one/${record.s3PathOriginal}`)
      expect(await sluiceJson(['check', '--client', client.id], env)).to.include({ originals: 1 })

      const other = await sluiceJson<NewClient & { storage: object }>(
        ['client', 'create', ...options, '--prefix', 'two'],
        withKey(credentials.secretAccessKey),
      )
      expect(other.storage).to.include({ bucket, prefix: 'two/' })
      expect(await isAccepted(asCaller(server, other))).to.equal(true)
      expect((await sluice(['client', 'storage', client.id, '--default'], env)).stderr).to.match(/has files/)
      for (const args of [[], ['--bucket', bucket], ['--default', ...options]])
        expect(
          (await sluice(['client', 'storage', client.id, ...args], withKey('x'))).code,
          args.join(' '),
        ).to.equal(2)
    })

    it('creates scoped secrets, lists them, and revokes them', async () => {
      const server = await start()
      const client = await sluiceJson<NewClient>(['client', 'create'], env)
      const { code, stdout } = await sluice(
        [
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
        ],
        env,
      )
      expect(code).to.equal(0)
      expect(stdout).to.match(/^scope +upload only, in a\/b$/m)
      const [, secretId = ''] = /^secret id +(\S+)$/m.exec(stdout) ?? []
      const [, secret = ''] = /^secret client token +(sec_\w+)$/m.exec(stdout) ?? []
      expect(await isAccepted(asCaller(server, client), secret)).to.equal(true)

      expect((await lines(sluice(['client', 'list'], env)))[2]).to.match(/ {2}active, 1 scoped secret$/)
      const shown = (await sluice(['client', 'show', client.id], env)).stdout
      expect(shown).to.not.include('sec_')
      expect(shown).to.match(new RegExp(`^${secretId} +app +upload only, in a/b +\\d{4}-\\S+Z$`, 'm'))
      const json = await sluiceJson<{ secrets: object[] }>(['client', 'show', client.id], env)
      expect(json.secrets[0]).to.include({ id: secretId, name: 'app', only: 'upload', folder: 'a/b' })

      const removed = await sluice(['client', 'secret', 'remove', client.id, secretId], env)
      expect(removed).to.include({ code: 0 })
      expect(removed.stdout).to.not.include(secretId)
      expect(await isAccepted(asCaller(server, client), secret)).to.equal(false)
      expect((await sluice(['client', 'secret', 'remove', client.id, secretId], env)).code).to.equal(1)
      expect((await sluice(['client', 'secret', 'add', client.id, '--only', 'manage'], env)).code).to.equal(2)
    })

    it('rotates the secret of a client, and accepts the old one for the given time', async () => {
      const server = await start()
      const old = await sluiceJson<NewClient>(['client', 'create'], env)
      const fresh = await sluiceJson<NewClient>(['client', 'rotate', old.id, '--keep-old', '2h'], env)
      const caller = asCaller(server, fresh)
      expect(await isAccepted(caller, old.secretClientToken)).to.equal(true)
      expect(await isAccepted(caller)).to.equal(true)
      expect((await lines(sluice(['client', 'list'], env)))[2]).to.match(/active, old secret until \S+Z$/)
      const last = await sluiceJson<NewClient>(['client', 'rotate', old.id, '--keep-old', '0s'], env)
      expect(await isAccepted(caller, old.secretClientToken)).to.equal(false)
      expect(await isAccepted(caller)).to.equal(false)
      expect(await isAccepted(asCaller(server, last))).to.equal(true)
    })

    it('rotates the secret of the first client, which the next start uses', async () => {
      const server = await start()
      const { secretClientToken } = await sluiceJson<NewClient>(['client', 'rotate', 'first'], env)
      const file = join(dataDir, 'credentials.json')
      expect(JSON.parse(await readFile(file, 'utf8'))).to.deep.equal({ ...server.tokens, secretClientToken })
      expect((await stat(file)).mode & 0o777).to.equal(0o600)
      await end(server)
      const next = await start()
      expect(next.tokens.secretClientToken).to.equal(secretClientToken)
      for (const secret of [secretClientToken, server.tokens.secretClientToken])
        expect(await isAccepted(next, secret)).to.equal(true)
    })

    it('does not change a secret that the environment sets', async () => {
      Object.assign(env, { CLIENT_TOKEN: 'pub_of_the_first', SECRET_CLIENT_TOKEN: 'sec_of_the_first_one' })
      const server = await start()
      const { code, stderr } = await sluice(['client', 'rotate', 'first'], env)
      expect(code).to.equal(1)
      expect(stderr).to.include('SECRET_CLIENT_TOKEN')
      expect(await isAccepted(server)).to.equal(true)
    })

    it('prints errors, one per line, with exit code 1', async () => {
      const server = await start()
      const { s3PathOriginal } = await uploadOne(server, { name: 'a.png', bytes: png })
      expect((await sluice(['check'], env)).stdout).to.include('bucket and index agree')
      await rm(join(dataDir, 'bucket', 'first', recordKey(storedKey(s3PathOriginal))))
      const { code, stdout, stderr } = await sluice(['check'], env)
      expect({ code, stderr }).to.deep.equal({ code: 1, stderr: '' })
      expect(stdout).to.match(new RegExp(`^record missing +first +${s3PathOriginal}$`, 'm'))
      expect(stdout).to.match(/^1 {2}record missing {2}the bytes are in the bucket/m)
      expect(stdout).to.not.include('agree')
      const json = await lines(sluice(['check', '--json'], env))
      expect(json.map((line) => JSON.parse(line))).to.deep.equal([
        { finding: { kind: 'record missing', clientId: 'first', key: s3PathOriginal } },
        {
          originals: 1,
          derivatives: 0,
          others: 0,
          inProgress: 0,
          findings: { 'record missing': 1 },
        },
      ])
    })

    it('removes a client with its files only with --files', async () => {
      const server = await start()
      const client = await sluiceJson<NewClient>(['client', 'create'], env)
      await uploadOne(asCaller(server, client), { name: 'a.png', bytes: png })
      const refused = await sluice(['client', 'remove', client.id], env)
      expect(refused.code).to.equal(1)
      expect(refused.stderr).to.match(/^sluice: .*has files/)
      const { code, stdout } = await sluice(['client', 'remove', client.id, '--files'], env)
      expect({ code, stdout }).to.deep.equal({
        code: 0,
        stdout: 'removed, with 1 original and all derivatives\n',
      })
      expect(await isAccepted(asCaller(server, client))).to.equal(false)
      expect(await filesInBucket(dataDir)).to.deep.equal([])
      expect((await sluice(['client', 'remove', 'first', '--files'], env)).code).to.equal(1)
    })

    it('stops at Ctrl-C, and aborts the command in the server', async () => {
      const server = await start()
      const client = await sluiceJson<NewClient>(['client', 'create'], env)
      // An upload that does not come to its end: the removal waits for it.
      const upload = await openSocket(server)
      upload.write(
        `POST /v1/upload HTTP/1.1\r\nHost: x\r\nAuthorization: ${client.secretClientToken}\r\n` +
          'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 100000\r\n\r\n' +
          '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n',
      )
      upload.write('x'.repeat(20_000))
      const inProgress = async () => (await sluiceJson<{ inProgress: number }>(['check'], env)).inProgress
      await eventually(async () => expect(await inProgress()).to.equal(1), { withinMs: 10_000 })

      const { child, ended } = startCli(['client', 'remove', client.id, '--files'], env)
      const state = async () => (await lines(sluice(['client', 'list'], env)))[2]
      await eventually(async () => expect(await state()).to.match(/removing$/), { withinMs: 10_000 })
      child.kill('SIGINT')
      expect(await ended).to.include({ code: 130, stdout: '' })
      upload.destroy()
      await eventually(async () => expect(await inProgress()).to.equal(0), { withinMs: 10_000 })
      expect(await state(), 'nobody goes on with it').to.match(/removing$/)
      expect((await sluice(['client', 'remove', client.id], env)).code).to.equal(0)
      expect(await state()).to.equal(undefined)
    })

    it('reports that the server was killed; the removal of a client continues after the next start', async () => {
      const before = await start()
      const kept = await uploadOne(before, { name: 'a.png', bytes: png })
      await end(before)
      const crashing = await start({ script: CRASHING, env: { CRASH_AT: 'after bucket.delete original' } })
      const client = await sluiceJson<NewClient>(['client', 'create'], env)
      for (let i = 0; i < 5; i += 1)
        await uploadOne(asCaller(crashing, client), { name: 'a.png', bytes: png })
      const { code, stderr } = await sluice(['client', 'remove', client.id, '--files'], env)
      expect(code).to.equal(1)
      expect(stderr).to.include('the server exited during the command')
      expect(await crashing.ended).to.equal('SIGKILL')

      const server = await start()
      expect(await isAccepted(asCaller(server, client))).to.equal(false)
      expect((await lines(sluice(['client', 'list'], env)))[2]).to.match(/removing$/)
      expect((await sluice(['client', 'remove', client.id], env)).code).to.equal(0)
      expect(await filesInBucket(dataDir)).to.deep.equal(
        [kept.s3PathOriginal, recordKey(storedKey(kept.s3PathOriginal))].map((key) => `first/${key}`).sort(),
      )
      expect((await deleteFile(server, kept.s3PathOriginal)).status).to.equal(200)
      expect(await sluiceJson<object[]>(['client', 'list'], env)).to.have.length(1)
    })
  })

  describe('without a running server', () => {
    it('opens the data folder itself, and leaves it usable for a server', async () => {
      const server = await start()
      const { s3PathOriginal } = await uploadOne(server, { name: 'a.png', bytes: png })
      await end(server)
      expect(await lines(sluice(['client', 'list'], env))).to.have.length(2)
      expect(await sluiceJson(['check'], env)).to.include({ originals: 1 })
      const client = await sluiceJson<NewClient>(['client', 'create'], env)
      const next = await start()
      expect(await isAccepted(asCaller(next, client))).to.equal(true)
      expect((await deleteFile(next, s3PathOriginal)).status).to.equal(200)
    })

    it('works after the server was killed', async () => {
      await end(await start(), 'SIGKILL')
      expect(existsSync(join(dataDir, 'control.sock'))).to.equal(true)
      expect(await lines(sluice(['client', 'list'], env))).to.have.length(2)
      const next = await start()
      expect(await lines(sluice(['client', 'list'], env))).to.have.length(2)
      await end(next)
      expect(existsSync(join(dataDir, 'control.sock'))).to.equal(false)
    })

    it('fills a lost index', async () => {
      const server = await start()
      await uploadOne(server, { name: 'a.png', bytes: png })
      await end(server)
      await rm(join(dataDir, 'index'), { recursive: true })
      // A server would fill it at its start.
      await mkdir(join(dataDir, 'index'))
      expect((await sluice(['check'], env)).code).to.equal(1)
      const { code, stdout } = await sluice(['reindex'], env)
      expect(code).to.equal(0)
      expect(stdout).to.match(/^originals +0 +1 +0$/m)
      expect((await sluice(['check'], env)).code).to.equal(0)
    })

    it('creates nothing where there is no data', async () => {
      const nowhere = join(dataDir, 'nowhere')
      const { code, stderr } = await sluice(['client', 'list'], { DATA_DIR: nowhere })
      expect(code).to.equal(1)
      expect(stderr).to.include(nowhere).and.include('DATA_DIR')
      expect(existsSync(nowhere)).to.equal(false)
    })

    it('exits, and names the file, when it cannot read a client', async () => {
      await end(await start())
      const name = join('.sluice', 'clients', 'broken.json')
      await writeFile(join(dataDir, 'bucket', 'first', name), 'broken')
      const { child, ended } = startCli(['check'], env)
      const late = setTimeout(() => child.kill('SIGKILL'), 15_000)
      const { code, stderr } = await ended
      clearTimeout(late)
      expect({ code, stderr }).to.have.property('code', 1)
      expect(stderr).to.include(name)
    })

    it('exits without an error when the reader closes the pipe', async () => {
      await end(await start())
      const { child, ended } = startCli(['client', 'list'], env)
      child.stdout?.destroy()
      expect(await ended).to.include({ code: 1, stderr: '' })
    })

    it('names every invalid environment variable', async () => {
      const { code, stderr } = await sluice(['check'], { ...env, PORT: 'x', LOG_LEVEL: 'loud' })
      expect(code).to.equal(1)
      expect(stderr).to.include('PORT').and.include('LOG_LEVEL')
    })
  })

  describe('with invalid arguments', () => {
    for (const args of [
      [],
      ['nonsense'],
      ['client'],
      ['client', 'rotate'],
      ['client', 'rotate', 'first', '--keep-old', 'a while'],
      ['client', 'rotate', 'first', '--keep-old', '366d'],
      ['client', 'remove', 'one', 'two'],
      ['client', 'set'],
      ['client', 'set', 'first'],
      ['client', 'set', 'first', '--json'],
      ['client', 'set', 'first', '--presets-only', 'yes'],
      ['client', 'set', 'first', '--allowed-widths', '320;640'],
      ['client', 'set', 'first', '--allowed-widths', '320,'],
      ['client', 'set', 'first', '--variant-limit', 'none'],
      ['check', '--fast'],
      ['client', 'create', '--name'],
    ])
      it(`exits with 2: sluice ${args.join(' ')}`, async () => {
        const { code, stdout, stderr } = await sluice(args, env)
        expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' })
        expect(stderr).to.not.equal('')
      })

    for (const args of [
      [],
      ['client'],
      ...['create', 'list', 'rotate', 'set', 'remove'].map((name) => ['client', name]),
      ...['check', 'reindex', 'sweep'].map((name) => [name]),
    ])
      it(`prints help: sluice ${[...args, '--help'].join(' ')}`, async () => {
        const { code, stdout, stderr } = await sluice([...args, '--help'], env)
        expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' })
        expect(stdout).to.match(new RegExp(`^Usage: sluice ${args.join(' ')}`))
      })
  })

  it('prints its version', async () => {
    expect(await sluice(['--version'], env)).to.deep.equal({
      code: 0,
      stdout: `${version()}\n`,
      stderr: '',
    })
  })

  it('is an npm script', async () => {
    await end(await start())
    const { stdout } = await promisify(execFile)('npm', ['run', '-s', 'sluice', '--', 'client', 'list'], {
      cwd: PROJECT,
      env: { PATH: process.env.PATH, ...env },
    })
    expect(stdout).to.match(/^first +pub_/m)
  })
})
