import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import { diskBuckets } from '../../../src/adapters/bucket/disk/disk.ts'
import type { BackupTrouble } from '../../../src/core/backup/report.ts'
import { sha256 } from '../../../src/core/bytes/digest.ts'
import type { Client } from '../../../src/core/clients/client.ts'
import { newFileId, newOriginal, recordKey, storedKey } from '../../../src/core/files/object-key.ts'
import { type Format, formatNamed } from '../../../src/core/media/formats.ts'
import type { Bucket } from '../../../src/core/ports/bucket.ts'
import { unavailable } from '../../../src/core/problem.ts'
import { backUp } from '../../../src/service/backup/backup.ts'
import { createDigestSet } from '../../../src/service/backup/digest-set.ts'
import type { Installation } from '../../../src/service/backup/installation.ts'
import { restore } from '../../../src/service/backup/restore.ts'
import { rejection } from '../../support/rejection.ts'
import { sized } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const clientOf = (id: string): Client => ({ id, token: `pub_${id}`, secrets: [], createdAt: 0 })
const TEXT = formatNamed('txt') as Format
const OTHER = '7JAiMJ5xg1x'

describe('the engine of backups', () => {
  let folder: string
  let of: (id: string) => Bucket
  beforeEach(async () => {
    folder = await temporaryFolder()
    const buckets = await diskBuckets({ folder, urlOf: (key) => key })
    of = (id) => buckets.of({ id, token: '' })
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  async function put(bucket: Bucket, key: string, text: string): Promise<void> {
    await bucket.put(storedKey(key), Readable.from([Buffer.from(text)]), { mediaType: 'text/plain' })
  }

  /** Stores an original and its record. */
  async function store(bucket: Bucket, text: string): Promise<string> {
    const { key } = newOriginal({ folder: '', format: TEXT, id: newFileId() })
    await put(bucket, key, text)
    await put(bucket, recordKey(key), JSON.stringify({ size: text.length, sha256: sha256(text) }))
    return key
  }

  const textOf = async (bucket: Bucket, key: string) => {
    const asset = await bucket.find(storedKey(key))
    return asset && Buffer.concat(await (await asset.open()).toArray()).toString()
  }

  const installation = (
    change: (bucket: Bucket, id: string) => Bucket = (bucket) => bucket,
  ): Installation => ({
    clients: async () => [clientOf('first'), clientOf(OTHER)],
    first: of('first'),
    bucketOf: ({ id }) => change(of(id), id),
  })

  function run(options: { from?: Installation; to?: Bucket; keepMs?: number; now?: number } = {}) {
    const troubles: BackupTrouble[] = []
    const { from = installation(), to = of('backup'), keepMs, now = Date.now() } = options
    const report = backUp({
      installation: from,
      target: to,
      verify: false,
      keepMs,
      signal: new AbortController().signal,
      found: async (trouble) => void troubles.push(trouble),
      async progress() {},
      async pause() {},
      now: () => now,
    })
    return { report, troubles }
  }

  const restoredTo = (ids: Record<string, string>, at?: number) =>
    restore({
      installation: {
        ...installation(),
        first: of(ids.first ?? ''),
        bucketOf: ({ id }) => of(ids[id] ?? ''),
      },
      source: of('backup'),
      at,
      overwrite: false,
      signal: new AbortController().signal,
      async found() {},
      async progress() {},
    })

  it('copies records of all kinds, but no derivatives, uploads in progress and other files', async () => {
    const key = await store(of('first'), 'text')
    const kept = [
      '.sluice/members.json',
      '.sluice/aliases/a.json',
      '.sluice/redirects/x',
      '.sluice/remote/y.json',
    ]
    const left = [
      `${key}_w20.png`,
      '.sluice/tus/pieces/z',
      '.sluice/foreign/f',
      '.sluice/check/c',
      'other/file.txt',
    ]
    for (const one of [...kept, ...left]) await put(of('first'), one, one)
    expect(await run().report).to.include({ files: 1, records: kept.length + 1 })
    await restoredTo({ first: 'new', [OTHER]: 'new-other' })
    const found: string[] = []
    for await (const one of of('new').list('')) found.push(one)
    expect(found.sort()).to.deep.equal([...kept, key, recordKey(storedKey(key))].sort())
  })

  it('keeps the earlier copies of a client whose bucket is unavailable, and goes on with the others', async () => {
    await store(of(OTHER), 'text')
    await run({ now: 1e12 }).report
    await store(of('first'), 'new')
    const down = installation((bucket, id) => ({
      ...bucket,
      async *listObjects(prefix, options) {
        if (id === OTHER) throw unavailable('S3 is down')
        yield* bucket.listObjects(prefix, options)
      },
    }))
    const { report, troubles } = run({ from: down, now: 1e12 + 1 })
    expect(await report).to.include({ files: 2, new: 1, unreadable: 1, deleted: 0 })
    expect(troubles).to.deep.equal([{ kind: 'unreadable', clientId: OTHER, key: '/', detail: 'S3 is down' }])
    expect(await restoredTo({ first: 'a', [OTHER]: 'b' })).to.include({ files: 2, restored: 2 })
  })

  it('reports an original that has disappeared, but not one that is deleted during the run', async () => {
    const lost = await store(of('first'), 'lost')
    await of('first').delete([storedKey(lost)])
    const deleted = await store(of('first'), 'deleted')
    const deleting = installation((bucket) => ({
      ...bucket,
      async find(key, known) {
        if (key === deleted) await bucket.delete([storedKey(deleted), recordKey(storedKey(deleted))])
        return bucket.find(key, known)
      },
    }))
    const { report, troubles } = run({ from: deleting })
    expect(await report).to.include({ files: 0, missing: 1 })
    expect(troubles.map(({ key }) => key)).to.deep.equal([lost])
  })

  it('fails when the target is full, without a manifest, and continues later', async () => {
    await store(of('first'), 'one')
    await store(of('first'), 'two')
    let puts = 0
    const full: Bucket = {
      ...of('backup'),
      async put(key, bytes, options) {
        if (key.startsWith('objects/') && ++puts > 2) {
          bytes.destroy()
          throw unavailable('no room')
        }
        await of('backup').put(key, bytes, options)
      },
    }
    expect(((await rejection(run({ to: full }).report)) as Error).message).to.equal('no room')
    expect(((await rejection(restoredTo({}))) as Error).message).to.include('no complete backup')
    const { copiedBytes } = await run().report
    const again = await run({ to: of('another') }).report
    expect(again.files).to.equal(2)
    expect(copiedBytes, 'what was copied before it failed is not copied again').to.be.lessThan(
      again.copiedBytes,
    )
  })

  it('expires objects that no backup uses, but not those that were written in the last day', async () => {
    const day = 24 * 3600 * 1000
    const key = await store(of('first'), 'old')
    const now = Date.now()
    await run({ now: now - 40 * day }).report
    await of('first').delete([storedKey(key), recordKey(storedKey(key))])
    await store(of('first'), 'new')
    const keepMs = 30 * day
    expect((await run({ now, keepMs }).report).expired).to.deep.equal({ backups: 1, objects: 0 })
    expect((await run({ now: now + 2 * day, keepMs }).report).expired).to.deep.equal({
      backups: 0,
      objects: 2,
    })
    expect(await textOf(of('backup'), `objects/${sha256('new').slice(0, 2)}/${sha256('new')}`)).to.equal(
      'new',
    )
    expect((await run({ now: now + 99 * day, keepMs }).report).expired?.objects).to.equal(0)
  })

  it('restores the other files when one cannot be read', async () => {
    const broken = await store(of('first'), 'broken')
    const key = await store(of('first'), 'text')
    await run().report
    await put(of('new'), broken, 'broken')
    const failing: Bucket = {
      ...of('new'),
      async find(found, known) {
        const asset = await of('new').find(found, known)
        return asset && { ...asset, open: () => Promise.reject(new Error('EIO')) }
      },
    }
    const troubles: string[] = []
    const report = await restore({
      installation: { ...installation(), first: failing, bucketOf: () => failing },
      source: of('backup'),
      overwrite: false,
      signal: new AbortController().signal,
      found: async ({ kind, key }) => void troubles.push(`${kind} ${key}`),
      async progress() {},
    })
    expect(report).to.include({ restored: 1, unreadable: 1 })
    expect(troubles).to.deep.equal([`unreadable ${broken}`])
    expect(await textOf(of('new'), key)).to.equal('text')
  })

  it('reports an original that the service has lost, although the backup has it', async () => {
    const key = await store(of('first'), 'text')
    await run({ now: 1e12 }).report
    await of('first').delete([storedKey(key)])
    const { report, troubles } = run({ now: 1e12 + 1 })
    expect(await report).to.include({ files: 1, missing: 1 })
    expect(troubles.map((one) => one.key)).to.deep.equal([key])
  })

  it('distinguishes contents by digest and size', () => {
    const set = createDigestSet()
    const contents = Array.from({ length: sized(5000, 20_000) }, (_, i) => ({
      size: i,
      sha256: sha256(String(i)),
    }))
    for (const one of contents) set.add(one)
    expect(contents.every((one) => set.has(one))).to.equal(true)
    expect(contents.some((one) => set.has({ ...one, size: one.size + 1 }))).to.equal(false)
    expect(set.has({ size: 1, sha256: sha256('other') })).to.equal(false)
  })
})
