import { rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import { diskBuckets } from '../../../src/adapters/bucket/disk/disk.ts'
import type { BackupTrouble } from '../../../src/core/backup/report.ts'
import { sha256 } from '../../../src/core/bytes/digest.ts'
import type { Client } from '../../../src/core/clients/client.ts'
import type { ClientStorage } from '../../../src/core/clients/client-storage.ts'
import { newFileId, newOriginal, recordKey, storedKey } from '../../../src/core/files/object-key.ts'
import { type Format, formatNamed } from '../../../src/core/media/formats.ts'
import type { Bucket } from '../../../src/core/ports/bucket.ts'
import { fileReplaced, storageFull, unavailable } from '../../../src/core/problem.ts'
import { SealError } from '../../../src/core/signing/seal.ts'
import { putJson } from '../../../src/core/storage/small-object.ts'
import { backUp } from '../../../src/service/backup/backup.ts'
import { UnreadableSource } from '../../../src/service/backup/checked-bytes.ts'
import type { Installation } from '../../../src/service/backup/installation.ts'
import { putLines, readLines } from '../../../src/service/backup/lines.ts'
import { isOutage, persistentLists } from '../../../src/service/backup/persistence.ts'
import { type RestoreOptions, restore } from '../../../src/service/backup/restore.ts'
import { rejection } from '../../support/rejection.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const TEXT = formatNamed('txt') as Format
const OTHER = '7JAiMJ5xg1x'
const CLIENT = '.sluice/clients/first.json'
const { signal } = new AbortController()
const clientOf = (id: string, createdAt = 0): Client => ({ id, token: `pub_${id}`, secrets: [], createdAt })

describe('backups and faults', () => {
  let folder: string
  let of: (id: string) => Bucket
  let troubles: string[]
  let pauses: number
  beforeEach(async () => {
    folder = await temporaryFolder()
    const buckets = await diskBuckets({ folder, urlOf: (key) => key })
    of = (id) => buckets.of({ id, token: '' })
    troubles = []
    pauses = 0
    await put(of('first'), CLIENT, '{}')
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const observed = {
    signal,
    found: async ({ kind, clientId = '', key }: BackupTrouble) =>
      void troubles.push(`${kind} ${clientId} ${key}`),
    async progress() {},
    async pause() {
      pauses += 1
    },
  }

  async function put(bucket: Bucket, key: string, text: string): Promise<void> {
    await bucket.put(storedKey(key), Readable.from([Buffer.from(text)]), { mediaType: 'text/plain' })
  }

  async function store(bucket: Bucket, text: string, path = ''): Promise<string> {
    const { key } = newOriginal({ folder: path, format: TEXT, id: newFileId() })
    await put(bucket, key, text)
    await put(bucket, recordKey(key), JSON.stringify({ size: text.length, sha256: sha256(text) }))
    return key
  }

  async function remove(bucket: Bucket, key: string): Promise<void> {
    await bucket.delete([storedKey(key), recordKey(storedKey(key))])
  }

  const textOf = async (bucket: Bucket, key: string) => {
    const asset = await bucket.find(storedKey(key))
    return asset && Buffer.concat(await (await asset.open()).toArray()).toString()
  }

  const objectOf = (text: string) => storedKey(`objects/${sha256(text).slice(0, 2)}/${sha256(text)}`)

  const installation = (given: Partial<Installation> = {}): Installation => ({
    clients: async () => [clientOf('first'), clientOf(OTHER)],
    first: of('first'),
    bucketOf: ({ id }) => of(id),
    ...given,
  })

  /** Fails once for each of these steps. */
  function interrupted(bucket: Bucket, { puts = 0, finds = 0 }): Bucket {
    return {
      ...bucket,
      async put(key, bytes, options) {
        if (key.startsWith('objects/') && puts-- > 0) {
          bytes.destroy()
          throw unavailable('S3 is down')
        }
        await bucket.put(key, bytes, options)
      },
      async find(key, known) {
        if (key.includes('/txt/') && finds-- > 0) throw unavailable('S3 is down')
        return bucket.find(key, known)
      },
    }
  }

  const run = (options: { from?: Installation; to?: Bucket; verify?: boolean; now?: number } = {}) => {
    const { from = installation(), to = of('backup'), verify = false, now = 1e12 } = options
    return backUp({ installation: from, target: to, verify, ...observed, now: () => now })
  }

  const restored = (options: Partial<RestoreOptions> = {}) =>
    restore({
      installation: installation({ first: of('new-first'), bucketOf: ({ id }) => of(`new-${id}`) }),
      source: of('backup'),
      overwrite: false,
      ...observed,
      ...options,
    })

  it('repeats the steps of a file after a 503 of either side', async () => {
    await store(of('first'), 'text')
    const first = interrupted(of('first'), { finds: 2 })
    const from = installation({ bucketOf: ({ id }) => (id === 'first' ? first : of(id)) })
    const report = await run({ from, to: interrupted(of('backup'), { puts: 2 }) })
    expect(report).to.include({ files: 1, new: 1, unreadable: 0 })
    expect(pauses).to.equal(4)
    const again = interrupted(of('backup'), { finds: 0 })
    let failures = 2
    const source: Bucket = {
      ...again,
      find: (key, known) =>
        key.startsWith('objects/') && failures-- > 0
          ? Promise.reject(unavailable('S3 is down'))
          : again.find(key, known),
    }
    expect(await restored({ source })).to.include({ restored: 1, unreadable: 0 })
    expect(pauses).to.equal(6)
  })

  it('waits for a store that is overloaded, but not for a full one, or one that refuses the request', () => {
    const refusedWith = (httpStatusCode: number) =>
      unavailable('refused', { cause: Object.assign(new Error(), { $metadata: { httpStatusCode } }) })
    for (const error of [
      unavailable('down'),
      refusedWith(503),
      refusedWith(429),
      fileReplaced(refusedWith(412)),
    ])
      expect(isOutage(new UnreadableSource(error))).to.equal(true)
    const sealed = unavailable('cannot be decrypted', { cause: new SealError() })
    for (const error of [storageFull(new Error('full')), refusedWith(403), new Error('EIO'), sealed])
      expect(isOutage(error)).to.equal(false)
  })

  it('continues to read a manifest whose connection was closed', async () => {
    const key = storedKey('lines')
    // More than 60 kB, although it is compressed.
    const lines = Array.from({ length: 3000 }, () => ({ id: newFileId() + newFileId() }))
    await putLines(of('backup'), key, {
      lines: (async function* () {
        yield* lines
      })(),
      ...observed,
    })
    const starts: number[] = []
    const closing: Bucket = {
      ...of('backup'),
      async find(found, known) {
        const asset = await of('backup').find(found, known)
        if (!asset) return undefined
        return {
          ...asset,
          async open(options = {}) {
            starts.push(options.range?.start ?? 0)
            const bytes = Buffer.concat(await (await asset.open(options)).toArray())
            return Readable.from(
              (async function* () {
                yield bytes.subarray(0, 20_000)
                if (starts.length < 3) throw unavailable('closed')
                yield bytes.subarray(20_000)
              })(),
            )
          },
        }
      },
    }
    const read: unknown[] = []
    for await (const line of (await readLines(closing, key, observed)) ?? []) read.push(line)
    expect(read).to.deep.equal(lines)
    expect(starts).to.deep.equal([0, 20_000, 40_000])
  })

  it('finds with verify what only an earlier backup uses, damaged or missing, and does not report it twice', async () => {
    const [damaged, missing] = [await store(of('first'), 'damaged'), await store(of('first'), 'missing')]
    await run()
    await remove(of('first'), damaged)
    await remove(of('first'), missing)
    await run({ now: 1e12 + 1 })
    await put(of('backup'), objectOf('damaged'), 'dam')
    await of('backup').delete([objectOf('missing')])
    expect(await run({ now: 1e12 + 2 })).to.include({ damaged: 0, missing: 0 })
    expect(await run({ now: 1e12 + 3, verify: true })).to.include({ damaged: 1, missing: 1 })
    expect(troubles).to.deep.equal([`damaged  ${objectOf('damaged')}`, `missing  ${objectOf('missing')}`])
  })

  it('backs up the other clients when the record of a client is damaged, with the earlier copies of its files', async () => {
    const record = `.sluice/clients/${OTHER}.json`
    await put(of('first'), record, 'intact')
    const key = await store(of(OTHER), 'text')
    await run()
    await put(of('first'), record, '')
    await store(of('first'), 'new')
    const from = installation({
      async clients(damaged) {
        damaged?.(OTHER, 'not a record')
        return [clientOf('first')]
      },
    })
    expect(await run({ from, now: 1e12 + 1 })).to.include({ files: 2, new: 1, unreadable: 1, deleted: 0 })
    expect(troubles).to.deep.equal([`unreadable ${OTHER} /`])
    expect(await restored()).to.include({ restored: 2, notCopied: 1 })
    expect(await textOf(of('new-first'), record)).to.equal('intact')
    expect(await textOf(of(`new-${OTHER}`), key)).to.equal('text')
  })

  it('restores nothing of a client whose record cannot be read, into the bucket of another one', async () => {
    await store(of(OTHER), 'secret')
    const key = await store(of('first'), 'text')
    await run()
    const without = installation({
      clients: async () => [clientOf('first')],
      first: of('new-first'),
      bucketOf: () => of('new-first'),
    })
    expect(await restored({ installation: without })).to.include({ restored: 1, unreadable: 1 })
    expect(troubles).to.deep.equal([`unreadable ${OTHER} /`])
    expect(await textOf(of('new-first'), key)).to.equal('text')
  })

  it('restores selected files and folders of one client, no records of clients, and reports a key that the backup lacks', async () => {
    for (const record of ['.sluice/members.json', '.sluice/aliases/a.json'])
      await put(of('first'), record, record)
    const inFolder = await store(of('first'), 'in the folder', 'shop/new')
    const single = await store(of('first'), 'single')
    await store(of('first'), 'not selected')
    const ofOther = await store(of(OTHER), 'of another client', 'shop')
    await run()
    const keys = ['shop/', single, 'absent.txt']
    expect(await restored({ only: { clientId: 'first', keys } })).to.include({
      files: 2,
      restored: 2,
      missing: 1,
    })
    expect(troubles).to.deep.equal(['missing first absent.txt'])
    const found: string[] = []
    for await (const key of of('new-first').list('')) found.push(key)
    const both = [inFolder, single]
    expect(found).to.have.members([...both, ...both.map((key) => recordKey(storedKey(key)))])
    expect(await textOf(of(`new-${OTHER}`), ofOther)).to.equal(undefined)
    expect(await restored({ only: { clientId: OTHER, keys: [] } })).to.include({ files: 1, restored: 1 })
    expect(await restored({ only: { clientId: 'first', keys: [] } })).to.include({ files: 3, restored: 1 })
    for await (const key of of('new-first').list('.sluice/')) expect(key).to.include('.sluice/meta/')
  })

  const ofRunInProgress = (at = Date.now()) =>
    putJson(of('backup'), storedKey('run.json'), {
      value: { id: 'other', host: hostname(), pid: process.ppid, at },
      signal,
    })

  it('restores nothing of another installation, and nothing while a run changes the backup', async () => {
    await store(of('first'), 'text')
    await run()
    const first = of('new-first')
    const other = installation({ first, clients: async () => [clientOf('first', 1)] })
    const refused = (await rejection(restored({ installation: other }))) as Error
    expect(refused.message).to.include('the files of another installation')
    await ofRunInProgress()
    expect(((await rejection(restored())) as Error).message).to.include('another run uses this place')
    await of('backup').delete([storedKey('run.json')])
    const empty = installation({ first, bucketOf: () => first, clients: async () => [] })
    expect(await restored({ installation: empty })).to.include({ restored: 1 })
  })

  it('continues a list after the last key when a store was unavailable', async () => {
    for (const key of ['a', 'b', 'c', 'd']) await put(of('backup'), key, key)
    let failures = 2
    const failing: Bucket = {
      ...of('backup'),
      async *listObjects(prefix) {
        for await (const object of of('backup').listObjects(prefix)) {
          if (object.key === 'c' && failures-- > 0) throw unavailable('S3 is down')
          yield object
        }
      },
    }
    const found: string[] = []
    for await (const { key } of persistentLists(failing, observed).listObjects('')) found.push(key)
    expect(found).to.deep.equal(['a', 'b', 'c', 'd'])
    expect(pauses).to.equal(2)
  })

  it("does not wait for a client's own bucket that cannot be listed, and keeps the earlier copies of its files", async () => {
    await store(of('first'), 'text')
    await store(of(OTHER), 'own')
    await run()
    const down: Bucket = {
      ...of(OTHER),
      // biome-ignore lint/correctness/useYield: it fails at once
      async *listObjects() {
        throw unavailable('S3 is down')
      },
    }
    const storage = {} as ClientStorage
    const from = installation({
      clients: async () => [clientOf('first'), { ...clientOf(OTHER), storage }],
      bucketOf: ({ id }) => (id === OTHER ? down : of(id)),
    })
    expect(await run({ from, now: 1e12 + 1 })).to.include({ files: 2, unreadable: 1, deleted: 0 })
    expect(troubles).to.deep.equal([`unreadable ${OTHER} /`])
    expect(pauses).to.equal(0)
  })

  it('refuses the target of another installation, and of a run in progress', async () => {
    await store(of('first'), 'text')
    await run()
    const other = installation({ clients: async () => [clientOf('first', 1)] })
    expect(((await rejection(run({ from: other }))) as Error).message).to.include('another installation')
    await ofRunInProgress(1e12)
    expect(((await rejection(run())) as Error).message).to.include('another run uses this place')
  })
})
