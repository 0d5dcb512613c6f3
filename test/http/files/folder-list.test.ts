import { join } from 'node:path'
import { expect } from 'chai'
import { ClassicLevel } from 'classic-level'
import { onOneBackend } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { eventually } from '../../support/eventually.ts'
import { ask } from '../../support/requests/ask.ts'
import { type Caller, deleteFile, newClient, uploadOne } from '../../support/requests/client.ts'
import { type Service, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

interface WireFolder {
  name: string
  path: string
  files: number
  directFiles: number
  bytes: number
}

interface Answer {
  status: number
  body: { folders: WireFolder[]; cursor: string | null; param?: string }
}

const foldersPart = (caller: Caller, query: string, options = {}): Promise<Answer> =>
  ask(caller, `/v1/folders?${query}`, options)

/** All subfolders, in parts of at most `limit`. */
async function foldersOf(caller: Caller, query = '', options = {}): Promise<WireFolder[]> {
  const all: WireFolder[] = []
  for (let cursor = ''; ; ) {
    const { status, body } = await foldersPart(caller, `${query}${cursor && `&cursor=${cursor}`}`, options)
    if (status !== 200) throw new Error(`the list was refused: ${status} ${JSON.stringify(body)}`)
    all.push(...body.folders)
    if (body.cursor === null) return all
    cursor = body.cursor
  }
}

const shown = (folders: readonly WireFolder[]) =>
  folders.map(({ path, files, directFiles, bytes }) => `${path} ${files} ${directFiles} ${bytes}`)

onOneBackend('GET /v1/folders', (start) => {
  let service: Service
  let client: Caller & { id: string }
  before(async () => {
    service = await start()
  })
  beforeEach(async () => {
    client = await newClient(service)
  })
  const store = (path: string | undefined, bytes: string, caller: Caller = client) =>
    uploadOne(caller, { name: 'a.txt', bytes }, path === undefined ? {} : { path })

  it('returns one level with the files and bytes of each folder, sorted by name, in parts of any size', async () => {
    expect(await foldersOf(client)).to.deep.equal([])
    await store(undefined, 'top')
    await store('b/c', '12')
    await store('b', '1')
    await store('b/c/d', '123')
    await store('a b', '1234')
    await store('日本', '12345')
    const all = ['a b 1 1 4', 'b 3 1 6', '日本 1 1 5']
    for (const limit of [1, 2, 3, 1000])
      expect(shown(await foldersOf(client, `limit=${limit}`))).to.deep.equal(all)
    for (const prefix of ['b', 'b/'])
      expect(await foldersOf(client, `prefix=${prefix}`)).to.deep.equal([
        { name: 'c', path: 'b/c', files: 2, directFiles: 1, bytes: 5 },
      ])
    expect(shown(await foldersOf(client, 'prefix=b/c/d'))).to.deep.equal([])
    const response = await ask(client, '/v1/folders')
    expect(response.headers.get('cache-control')).to.equal('no-store')
  })

  it('omits deleted files, also those in the trash', async () => {
    await service.app.clients.setRules(client.id, { keepDeletedSeconds: 3600 })
    const { s3PathOriginal } = await store('a/b', '1')
    await store('a', '12')
    await deleteFile(client, s3PathOriginal)
    expect(shown(await foldersOf(client))).to.deep.equal(['a 1 1 2'])
    expect(shown(await foldersOf(client, 'prefix=a'))).to.deep.equal([])
    await ask(client, '/v1/files/restore', { method: 'POST', json: { paths: [s3PathOriginal] } })
    expect(shown(await foldersOf(client, 'prefix=a'))).to.deep.equal(['a/b 1 1 1'])
  })

  it('shows to a secret for one folder only what is in it', async () => {
    for (const path of ['a', 'a/b', 'a/b/c', 'a/bc', 'd']) await store(path, path)
    const { secret } = await service.app.clients.addSecret(client.id, { scope: { folder: 'a/b' } })
    const seen = async (query: string) => shown(await foldersOf(client, query, { secret }))
    expect(await seen('')).to.deep.equal(['a 2 0 8'])
    expect(await seen('prefix=a')).to.deep.equal(['a/b 2 1 8'])
    expect(await seen('prefix=a/b')).to.deep.equal(['a/b/c 1 1 5'])
    for (const other of ['d', 'a/bc', 'none']) expect(await seen(`prefix=${other}`)).to.deep.equal([])
    const cursor = (await foldersPart(client, 'prefix=a&limit=1')).body.cursor
    const refused = await foldersPart(client, `prefix=a&cursor=${cursor}`, { secret })
    expect([refused.status, refused.body.param]).to.deep.equal([400, 'cursor'])
  })

  it('refuses invalid queries, and requests without a secret that may read', async () => {
    for (const [query, param] of [
      ['prefix=/a', 'prefix'],
      ['limit=0', 'limit'],
      ['limit=1001', 'limit'],
      ['cursor=x', 'cursor'],
      ['sort=name', 'sort'],
    ]) {
      const { status, body } = await foldersPart(client, `${query}`)
      expect([status, body.param], query).to.deep.equal([400, param])
    }
    expect((await ask(client, '/v1/folders', { secret: 'wrong' })).status).to.equal(401)
    const { secret } = await service.app.clients.addSecret(client.id, { scope: { only: 'upload' } })
    expect((await ask(client, '/v1/folders', { secret })).status).to.equal(403)
    expect((await ask(client, '/v1/folders', { method: 'POST' })).status).to.equal(405)
  })
})

describe('the counters of folders', () => {
  let dataDir: string
  let service: Service
  beforeEach(async () => {
    dataDir = await temporaryFolder()
    service = await startService({ dataDir })
    await uploadOne(service, { name: 'a.txt', bytes: '1' }, { path: 'a/b' })
    // A comparison that continues after a restart counts again.
    await eventually(async () => expect((await service.storage.index.run()).isCompared).to.equal(true))
  })
  afterEach(() => service.stop())

  /** Changes the index while the service is stopped. */
  async function change(work: (level: ClassicLevel<string, unknown>) => Promise<void>): Promise<void> {
    await service.stop({ keepData: true })
    const level = new ClassicLevel<string, unknown>(join(dataDir, 'index'), { valueEncoding: 'json' })
    await work(level)
    await level.close()
    service = await startService({ dataDir })
  }

  it('are compared by sluice check, and counted again by sluice reindex', async () => {
    expect((await command(service, 'check')).findings).to.deep.equal([])
    await change((level) => level.put('f\0first\0stored\0\0a', { files: 5, bytes: 1, directFiles: 0 }))
    expect(shown(await foldersOf(service))).to.deep.equal(['a 5 0 1'])
    expect((await command(service, 'check')).findings).to.deep.equal(['folder count differs: first a'])
    expect((await command(service, 'reindex')).findings).to.deep.equal([])
    expect(shown(await foldersOf(service))).to.deep.equal(['a 1 0 1'])
    expect((await command(service, 'check')).findings).to.deep.equal([])
  })

  it('are complete soon after an upgrade from a version that has no counters', async () => {
    await change(async (level) => {
      await level.clear({ gte: 'f\0', lt: 'f\x01' })
      await level.del('counted')
    })
    await eventually(async () => expect((await ask(service, '/v1/folders')).status).to.equal(200))
    expect(shown(await foldersOf(service))).to.deep.equal(['a 1 0 1'])
  })
})
