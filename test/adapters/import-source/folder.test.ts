import { once } from 'node:events'
import promises, { appendFile, mkdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { expect } from 'chai'
import { folderSource } from '../../../src/adapters/import-source/folder.ts'
import type { ImportItem, RefusedItem } from '../../../src/core/imports/source.ts'
import { rejection } from '../../support/rejection.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const { signal } = new AbortController()

describe('a folder as the source of an import', () => {
  let folder: string
  beforeEach(async () => {
    folder = await temporaryFolder()
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  async function items(path = folder, dataDir = join(folder, 'nowhere')) {
    const found: Array<ImportItem | RefusedItem> = []
    for await (const item of folderSource(path, { dataDir }).items(signal)) found.push(item)
    return found
  }
  async function onlyItem(): Promise<ImportItem> {
    const [item] = await items()
    if (!item || 'refused' in item) throw new Error('refused')
    return item
  }
  async function open({ content }: ImportItem) {
    if (!('open' in content)) throw new Error('no content')
    return content.open(signal)
  }

  it('reads files of any size', async () => {
    for (const size of [0, 1, 65_536, 200_000]) {
      const bytes = Buffer.alloc(size, 'abc')
      await writeFile(join(folder, 'a.bin'), bytes)
      const item = await onlyItem()
      expect(item.size).to.equal(size)
      expect((await buffer(await open(item))).equals(bytes)).to.equal(true)
    }
  })

  const path = () => join(folder, 'a.bin')
  const changes: Array<[how: string, change: () => Promise<unknown>]> = [
    ['longer', () => appendFile(path(), 'more')],
    ['shorter', () => truncate(path(), 100_000)],
    ['other bytes', () => writeFile(path(), Buffer.alloc(300_000, 2))],
  ]
  for (const [how, change] of changes)
    it(`refuses a file that gets ${how} while it is read`, async () => {
      await writeFile(path(), Buffer.alloc(300_000, 1))
      const stream = await open(await onlyItem())
      stream.read(0)
      await once(stream, 'readable')
      await change()
      expect(String(await rejection(buffer(stream)))).to.include('changed during the import')
    })

  it('refuses a file that another one has replaced since it was found', async () => {
    await writeFile(path(), 'one')
    const item = await onlyItem()
    await writeFile(join(folder, 'b'), 'other')
    await rename(join(folder, 'b'), path())
    expect(String(await rejection(buffer(await open(item))))).to.include('changed during the import')
    await rm(path())
    await symlink('/etc/hosts', path())
    expect(await rejection(open(item))).to.include({ code: 'ELOOP' })
  })

  it('ends at once when its signal aborts, or its reader leaves', async () => {
    await writeFile(path(), Buffer.alloc(300_000, 1))
    const item = await onlyItem()
    const stop = new AbortController()
    if (!('open' in item.content)) throw new Error('no content')
    const aborted = await item.content.open(stop.signal)
    stop.abort(new Error('stopped'))
    expect(await rejection(buffer(aborted))).to.include({ name: 'AbortError' })
    const left = await open(item)
    left.destroy()
    await once(left, 'close')
  })

  it('never has files of the data folder of the service, which has its secrets', async () => {
    const dataDir = join(folder, 'app', 'data')
    await mkdir(join(dataDir, 'bucket'), { recursive: true })
    await writeFile(join(dataDir, 'app-secret'), 'secret')
    await writeFile(join(dataDir, 'bucket', 'a.txt'), 'text')
    await writeFile(join(folder, 'app', 'data.txt'), 'text')
    await symlink('data/app-secret', join(folder, 'app', 'link'))
    await symlink(folder, `${folder}-link`)
    try {
      for (const root of [folder, `${folder}-link`])
        for (const name of [dataDir, join(`${folder}-link`, 'app', 'data')])
          expect(
            (await items(root, name)).map((item) =>
              'refused' in item ? [item.from, item.refused] : item.from,
            ),
          ).to.have.deep.members([
            ['app/data', 'is in DATA_DIR, the folder of the service itself'],
            ['app/link', 'is in DATA_DIR, the folder of the service itself'],
            'app/data.txt',
          ])
      for (const root of [dataDir, join(dataDir, 'bucket'), join(`${folder}-link`, 'app', 'data')])
        expect(String(await rejection(items(root, dataDir)))).to.include('is in DATA_DIR')
    } finally {
      await rm(`${folder}-link`)
    }
  })

  it('continues after a subfolder that cannot be read to its end', async () => {
    await mkdir(join(folder, 'broken'))
    await writeFile(join(folder, 'broken', 'a.txt'), 'a')
    await writeFile(join(folder, 'c.txt'), 'c')
    const { opendir } = promises
    // As a network file system, or the folders of another user in /proc: it is opened, and then fails.
    promises.opendir = async (path, options) => {
      const dir = await opendir(path, options)
      if (!String(path).endsWith('broken')) return dir
      async function* entries() {
        yield* dir
        throw new Error('EIO: i/o error, readdir')
      }
      return Object.assign(entries(), { close: async () => {} }) as unknown as typeof dir
    }
    syncBuiltinESMExports()
    try {
      expect(
        (await items()).map((item) => ('refused' in item ? [item.from, item.refused] : item.from)),
      ).to.have.deep.members(['broken/a.txt', ['broken', 'EIO: i/o error, readdir'], 'c.txt'])
      expect(String(await rejection(items(join(folder, 'broken'))))).to.include('EIO')
    } finally {
      promises.opendir = opendir
      syncBuiltinESMExports()
    }
  })
})
