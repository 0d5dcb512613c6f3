import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { pluginFolder, recorded, recorder } from '../../../support/drop-ins.ts'
import { eventually } from '../../../support/eventually.ts'
import { picture } from '../../../support/media/images.ts'
import { builtScript } from '../../../support/programs/built-script.ts'
import { operated } from '../../../support/programs/operated.ts'
import { startSluice } from '../../../support/programs/sluice.ts'
import type { Remote } from '../../../support/requests/remote.ts'
import { fetchingFrom, fileServer } from '../../../support/requests/remote-files.ts'
import { startProcess } from '../../../support/servers/process.ts'
import type { Service } from '../../../support/service.ts'
import { itLong, sized } from '../../../support/sized.ts'
import { filesInBucket } from '../../../support/stored/state.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const CRASHING = [await builtScript('crash-server')]

interface Listed {
  s3PathOriginal: string
  originalName: string
  tags?: string[]
  metadata?: Record<string, string>
}

async function filesOf({ url, tokens }: Service): Promise<Listed[]> {
  const response = await fetch(`${url}/v1/files?limit=100`, {
    headers: { Authorization: tokens.secretClientToken },
  })
  return ((await response.json()) as { files: Listed[] }).files
}

const originals = (files: readonly string[]) => files.filter((file) => !file.includes('.sluice/'))

describe('sluice import', () => {
  const own = operated()
  let source: string
  let png: Buffer
  before(async () => {
    png = await picture({ width: 8, height: 8 })
  })
  beforeEach(async () => {
    source = await temporaryFolder()
  })
  const remotes: Remote[] = []
  afterEach(async () => {
    for (const remote of remotes.splice(0)) await remote.close()
    await rm(source, { recursive: true, force: true })
  })

  async function serve(files: Parameters<typeof fileServer>[0]): Promise<Remote> {
    const remote = await fileServer(files)
    remotes.push(remote)
    return remote
  }

  async function write(path: string, bytes: Buffer | string): Promise<void> {
    await mkdir(join(source, path, '..'), { recursive: true })
    await writeFile(join(source, path), bytes)
  }

  const report = (...args: string[]) => own.json<Record<string, unknown>>('import', source, ...args)

  it('stores the files of a folder with their folders, and skips them in the next run', async () => {
    const service = await own.start()
    await write('a.png', png)
    await write('shop/chairs/Oak ß.txt', 'text')
    await write('.hidden', 'no')
    await write('.git/config', 'no')
    const map = join(source, '..', `${source.split('/').at(-1)}-map.csv`)

    const first = await report('--folder', 'old', '--tags', 'x,y', '--keep-names', '--map', map)
    expect(first).to.deep.include({ imported: 2, skipped: 0, refused: 0, bytes: png.length + 4 })
    const files = await filesOf(service)
    expect(
      files.map(({ originalName, tags, metadata }) => ({ originalName, tags, metadata })),
    ).to.have.deep.members([
      { originalName: 'a.png', tags: ['x', 'y'], metadata: { importedFrom: 'a.png' } },
      { originalName: 'Oak ß.txt', tags: ['x', 'y'], metadata: { importedFrom: 'shop/chairs/Oak ß.txt' } },
    ])
    const keys = files.map((file) => file.s3PathOriginal)
    expect(keys.some((key) => key.startsWith('old/shop/chairs/text/txt/'))).to.equal(true)
    const csv = await readFile(map, 'utf8')
    const [header, ...rows] = csv.trimEnd().split('\n')
    expect(header).to.equal('from,key,src')
    expect(rows).to.have.length(2)
    for (const row of rows) {
      const [, key = '', src = ''] = row.split(',')
      expect(keys).to.include(key)
      expect((await fetch(src)).status).to.equal(200)
    }

    await write('new.txt', 'new')
    const second = await report('--folder', 'old', '--map', map)
    expect(second).to.deep.include({ imported: 1, skipped: 2, bytes: 3 })
    expect(await filesOf(service)).to.have.length(3)
    expect(await readFile(map, 'utf8'), 'the map of a complete run has all files').to.include(rows[0])
    await rm(map)

    await own.end(service)
    expect(await report(), 'without a server').to.deep.include({ imported: 0, skipped: 3 })
    expect((await own.sluice('check')).code).to.equal(0)
  })

  it('sets aliases with --aliases, also to files of earlier runs, so that URLs of other services find them', async () => {
    const service = await own.start({ COMPAT: 'cloudinary' })
    await write('shop/chair.png', png)
    await report()
    expect(await report('--aliases')).to.include({ skipped: 1, refused: 0 })
    const url = `${service.url}/compat/cloudinary/${service.tokens.clientToken}/image/upload/v1/shop/chair`
    const original = Buffer.from(await (await fetch(`${url}.png`)).arrayBuffer())
    expect(original.equals(png)).to.equal(true)
  })

  it('lists refused files with their reasons, and imports the others', async () => {
    const service = await own.start()
    await write('a.txt', 'text')
    await write('empty.txt', '')
    await write('a%2Fb/a.txt', 'text')
    await symlink('/etc/passwd', join(source, 'outside'))
    await symlink('a.txt', join(source, 'inside.txt'))
    await symlink('.', join(source, 'loop'))
    const { code, stdout } = await own.sluice('import', source)
    expect(code).to.equal(1)
    const refused = stdout.split('\n').filter((line) => /^refused {2}\S/.test(line))
    expect(refused, stdout).to.have.length(3)
    expect(stdout)
      .to.match(/^refused {2}outside {2}\(a symbolic link that leaves the folder\)$/m)
      .and.to.match(/^refused {2}loop {2}\(not a regular file\)$/m)
      .and.to.match(/^refused {2}a%2Fb\/a.txt {2}\(.*encoded twice/m)
      .and.to.match(/^imported +3$/m)
    expect(await filesOf(service)).to.have.length(3)
  })

  it('stores nothing in a dry run', async () => {
    const service = await own.start()
    await own.sluice('client', 'set', 'first', '--upload-types', 'image/*')
    await write('a.png', png)
    await write('a.txt', 'text')
    const { code, stdout } = await own.sluice('import', source, '--dry-run')
    expect(code).to.equal(1)
    expect(stdout)
      .to.match(/^accepted +1$/m)
      .and.match(/^refused {2}a.txt .*image/m)
    expect(originals(await filesInBucket(own.dataDir))).to.deep.equal([])
    await own.end(service)
  })

  itLong('emits no events with --no-events', async () => {
    const plugins = await pluginFolder({})
    const told = join(plugins, 'told.jsonl')
    await writeFile(join(plugins, 'recorder.js'), recorder(told))
    const service = await own.start({ PLUGINS_DIR: plugins })
    const usage = async () =>
      (await own.json<Array<{ counts: { uploads: number } }>>('usage'))[0]?.counts.uploads
    const names = async () => (await recorded(told)).map(({ name }) => name)
    await write('a.txt', 'text')
    await report('--no-events', '--aliases')
    expect(await usage()).to.equal(0)
    expect(await names()).to.deep.equal([])
    await write('b.txt', 'text')
    await report('--aliases')
    await eventually(async () => expect(await usage()).to.equal(1))
    await eventually(async () => expect(await names()).to.have.members(['original.stored', 'alias.changed']))
    await own.end(service)
    await rm(plugins, { recursive: true, force: true })
  })

  it('fetches the files of an export, within the limits of the fetcher', async () => {
    const remote = await serve({ '/a.png': png, '/b.txt': 'text' })
    const service = await own.start(fetchingFrom(remote))
    const entries = [
      { secure_url: `${remote.url('/')}a.png`, public_id: 'shop/oak', format: 'png', tags: ['wood'] },
      { url: `${remote.url('/')}b.txt`, folder: 'texts', name: 'n.txt' },
      { url: `${remote.url('/')}missing` },
      { url: 'http://169.254.169.254/latest' },
      { nothing: true },
    ]
    const lines = join(source, 'export.jsonl')
    await writeFile(lines, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
    const { code, stdout } = await own.sluice('import', lines)
    expect(code).to.equal(1)
    expect(stdout)
      .to.match(/^imported +2$/m)
      .and.match(/^refused +3$/m)
      .and.match(/^refused {2}line 5 /m)
    const files = await filesOf(service)
    expect(files.map(({ originalName }) => originalName).sort()).to.deep.equal(['n.txt', 'oak.png'])

    const page = join(source, 'page.json')
    await writeFile(page, JSON.stringify({ resources: [entries[0]], next_cursor: 'x' }, null, 2))
    expect(await own.json('import', page)).to.deep.include({ imported: 0, skipped: 1 })
    const csv = join(source, 'list.csv')
    await writeFile(
      csv,
      `\ufeffurl,folder,tags\r\n${remote.url('/')}b.txt,,\r\n${remote.url('/')}b.txt?v=2,"x",a;b\r\n`,
    )
    expect(await own.json('import', csv)).to.deep.include({ imported: 1, skipped: 1 })
    expect((await own.sluice('import', join(source, 'none'))).stderr).to.include('ENOENT')
    await own.end(service)
  })

  itLong('finishes the files in progress after SIGINT, and continues later', async () => {
    let open = () => {}
    const arrived = new Promise<void>((resolve) => {
      open = resolve
    })
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const remote = await serve({
      '/slow': (_req, res) => {
        open()
        void held.then(() => res.end('slow'))
      },
      '/next': 'next',
    })
    const service = await own.start(fetchingFrom(remote))
    const lines = join(source, 'export.jsonl')
    await writeFile(
      lines,
      ['slow', 'next', 'next?2'].map((path) => `{"url":"${remote.url('/')}${path}"}\n`).join(''),
    )
    const running = startSluice(['import', lines, '--concurrency', '1'], own.env)
    await arrived
    running.signal('SIGINT')
    // The stop is in the socket already. Server and command share this event loop, which reads it within the pause.
    await pause(200)
    release()
    const { code, stdout, stderr } = await running.ended
    expect(code).to.equal(130)
    expect(stderr).to.include('send SIGINT again')
    expect(stdout)
      .to.match(/^imported +1$/m)
      .and.include('run the same command again')
    expect(await own.json('import', lines)).to.deep.include({ imported: 2, skipped: 1 })
    await own.end(service)
  })

  const others = ['after bucket.put note', 'before index.finishUpload']
  for (const step of ['after bucket.put record', ...sized([], others)])
    it(`imports nothing twice when the server is killed ${step}`, async () => {
      for (const name of ['a', 'b', 'c']) await write(`${name}.txt`, name)
      const before = await own.start()
      await own.end(before)
      const crashing = await startProcess({ script: CRASHING, env: { ...own.env, CRASH_AT: step } })
      const { code, stderr } = await own.sluice('import', source)
      expect(code).to.equal(1)
      expect(stderr).to.include('the server exited during the command')
      expect(await crashing.ended).to.equal('SIGKILL')

      const service = await own.start()
      const { imported, skipped } = (await report()) as { imported: number; skipped: number }
      expect(imported + skipped).to.equal(3)
      const names = (await filesOf(service)).map(({ originalName }) => originalName)
      expect(names.sort()).to.deep.equal(['a.txt', 'b.txt', 'c.txt'])
      await own.end(service)
    })
})
