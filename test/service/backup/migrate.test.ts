import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import { diskBuckets } from '../../../src/adapters/bucket/disk/disk.ts'
import { sha256 } from '../../../src/core/bytes/digest.ts'
import { newFileId, newOriginal, recordKey, storedKey } from '../../../src/core/files/object-key.ts'
import { type Format, formatNamed } from '../../../src/core/media/formats.ts'
import type { Bucket } from '../../../src/core/ports/bucket.ts'
import { type MigrateOptions, migrate } from '../../../src/service/backup/migrate.ts'
import { rejection } from '../../support/rejection.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const TEXT = formatNamed('txt') as Format
const CLIENT = '.sluice/clients/first.json'

describe('the engine of migrations', () => {
  let folder: string
  let source: Bucket
  let target: Bucket
  beforeEach(async () => {
    folder = await temporaryFolder()
    const buckets = await diskBuckets({ folder, urlOf: (key) => key })
    source = buckets.of({ id: 'source', token: '' })
    target = buckets.of({ id: 'target', token: '' })
    await put(source, CLIENT, '{"token":"pub_1"}')
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  async function put(bucket: Bucket, key: string, text: string): Promise<void> {
    await bucket.put(storedKey(key), Readable.from([Buffer.from(text)]), { mediaType: 'text/plain' })
  }

  async function store(bucket: Bucket, { storedAt = 0 } = {}): Promise<string> {
    const { key } = newOriginal({ folder: 'ä/b', format: TEXT, id: newFileId() })
    await put(bucket, key, 'text')
    await put(bucket, recordKey(key), JSON.stringify({ storedAt, tags: ['a'] }))
    return key
  }

  async function contents(bucket: Bucket): Promise<Record<string, string>> {
    const found: Record<string, string> = {}
    for await (const key of bucket.list(''))
      if (!key.startsWith('.sluice/check/')) found[key] = await textOf(bucket, key)
    return found
  }

  async function textOf(bucket: Bucket, key: string): Promise<string> {
    const asset = await bucket.find(storedKey(key))
    return asset ? Buffer.concat(await (await asset.open()).toArray()).toString() : ''
  }

  const troubles: string[] = []
  beforeEach(() => void troubles.splice(0))

  function run(options: Partial<MigrateOptions> & { from?: Bucket } = {}) {
    const { from = source } = options
    const client = { id: 'first', token: 'pub_1', secrets: [], createdAt: 0 }
    return migrate({
      installation: { first: from, bucketOf: () => from, clients: async () => [client] },
      targetOf: () => target,
      withoutDerivatives: false,
      verify: false,
      isForeign: (key) => key.startsWith('foreign/'),
      signal: new AbortController().signal,
      found: async ({ kind, key }) => void troubles.push(`${kind} ${key}`),
      async progress() {},
      now: () => 1e12,
      ...options,
    })
  }

  it('copies all objects of the service, and in a second run only what has changed', async () => {
    const deleted = await store(source)
    const key = await store(source)
    await put(source, `${key}_w20.png`, 'derivative')
    await put(source, 'foreign/a b.txt', 'foreign')
    expect(await run()).to.include({ isComplete: true, files: 2, copied: 7, deleted: 0, passes: 2 })
    expect(await contents(target)).to.deep.equal(await contents(source))

    await put(source, recordKey(storedKey(key)), JSON.stringify({ storedAt: 0, tags: ['b'] }))
    await source.delete([storedKey(deleted), recordKey(storedKey(deleted))])
    await put(source, 'program/file.txt', 'of another program')
    expect(await run()).to.include({ isComplete: true, copied: 1, deleted: 2 })
    await source.delete([storedKey('program/file.txt')])
    expect(await contents(target)).to.deep.equal(await contents(source))
    expect(await run({ withoutDerivatives: true })).to.include({ isComplete: true, copied: 0, deleted: 0 })
  })

  it('follows changes during a pass, until a pass finds none', async () => {
    const key = await store(source)
    let changes = 0
    const changing: Bucket = {
      ...source,
      async *listObjects(prefix, options) {
        const listed = []
        for await (const object of source.listObjects(prefix, options)) listed.push(object)
        changes += 1
        // Of the same size: only its tag shows that it has changed.
        if (changes <= 3) await put(source, recordKey(storedKey(key)), `{"storedAt":${changes}}`)
        if (changes === 2) await store(source)
        yield* listed
      },
    }
    expect(await run({ from: changing })).to.include({ isComplete: true, files: 2 })
    expect(await contents(target)).to.deep.equal(await contents(source))
  })

  it('finds other bytes of the same size with verify, and copies them again', async () => {
    const key = await store(source)
    await run()
    await put(target, key, 'tex7')
    expect(await run()).to.include({ copied: 0 })
    expect(await run({ verify: true })).to.include({ isComplete: true, copied: 1 })
    expect(troubles).to.deep.equal([`damaged ${key}`])
    expect(await textOf(target, key)).to.equal('text')
  })

  it('reports a file that cannot be read once, and copies the others', async () => {
    const broken = await store(source)
    const key = await store(source)
    const failing: Bucket = {
      ...source,
      async find(found, known) {
        const asset = await source.find(found, known)
        if (found !== broken || !asset) return asset
        const open = () => Promise.reject(new Error('EIO'))
        return { ...asset, open }
      },
    }
    expect(await run({ from: failing })).to.include({ isComplete: false, unreadable: 1 })
    expect(troubles).to.deep.equal([`unreadable ${broken}`])
    expect(await textOf(target, key)).to.equal('text')
  })

  it('does not replace a good copy with a damaged source', async () => {
    const key = await store(source)
    const content = { size: 4, sha256: sha256('text') }
    await put(source, recordKey(storedKey(key)), JSON.stringify({ storedAt: 0, ...content }))
    await run()
    await put(source, key, 'rot')
    expect(await run()).to.include({ isComplete: false })
    expect(troubles).to.deep.equal([`damaged ${key}`])
    expect(await textOf(target, key)).to.equal('text')
  })

  it('changes no bucket of another installation, and none that a service uses already', async () => {
    await put(target, CLIENT, '{"token":"pub_2"}')
    expect(((await rejection(run())) as Error).message).to.include('the target has files already')
    await target.delete([storedKey(CLIENT)])
    await store(source)
    await run()
    await store(target, { storedAt: 1e12 + 200_000 })
    const before = await contents(target)
    await store(source)
    expect(((await rejection(run())) as Error).message).to.include('a service uses the target already')
    expect(await contents(target)).to.deep.equal(before)
  })
})
