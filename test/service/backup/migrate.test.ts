import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import { diskBuckets } from '../../../src/adapters/bucket/disk/disk.ts'
import { migrationStateKey } from '../../../src/core/backup/place.ts'
import type { BackupTrouble } from '../../../src/core/backup/report.ts'
import { sha256 } from '../../../src/core/bytes/digest.ts'
import { newFileId, newOriginal, recordKey, storedKey } from '../../../src/core/files/object-key.ts'
import { type Format, formatNamed } from '../../../src/core/media/formats.ts'
import type { Bucket } from '../../../src/core/ports/bucket.ts'
import { type MigrateOptions, migrate } from '../../../src/service/backup/migration/migrate.ts'
import { endMigration } from '../../../src/service/backup/migration/target.ts'
import { rejection } from '../../support/rejection.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const TEXT = formatNamed('txt') as Format
const FIRST = { id: 'first', token: 'pub_1', secrets: [], createdAt: 0 }
const CLIENT = '.sluice/clients/first.json'

describe('the engine of migrations', () => {
  let folder: string
  let bucketOf: (id: string) => Bucket
  let source: Bucket
  let target: Bucket
  beforeEach(async () => {
    folder = await temporaryFolder()
    const buckets = await diskBuckets({ folder, urlOf: (key) => key })
    bucketOf = (id) => buckets.of({ id, token: '' })
    source = bucketOf('source')
    target = bucketOf('target')
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
    return migrate({
      installation: { first: from, bucketOf: () => from, clients: async () => [FIRST] },
      targetOf: () => target,
      placeOf: (id) => `/target/${id}`,
      withoutDerivatives: false,
      isForeign: (key) => key.startsWith('foreign/'),
      signal: new AbortController().signal,
      found: async ({ kind, key }) => void troubles.push(`${kind} ${key}`),
      async progress() {},
      now: () => 1e12,
      ...options,
    })
  }

  async function ofTwoClients() {
    const id = '7JAiMJ5xg1x'
    const record = storedKey(`.sluice/clients/${id}.json`)
    await put(source, record, '{}')
    const [from, to] = [bucketOf('source-other'), bucketOf('target-other')]
    const of = (one: Bucket, other: Bucket) => (client: { id: string }) =>
      client.id === 'first' ? one : other
    const clients = async () => [FIRST, { ...FIRST, id }]
    const installation = { first: source, bucketOf: of(source, from), clients }
    return { both: { targetOf: of(target, to), installation }, record, from, to }
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
    await put(source, `${key}_w30.png`, 'another derivative')
    await source.delete([storedKey(`${key}_w20.png`)])
    expect(await run({ withoutDerivatives: true })).to.include({ isComplete: true, copied: 0, deleted: 1 })
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
        if (changes <= 2) await put(source, recordKey(storedKey(key)), `{"storedAt":${changes}}`)
        if (changes === 1) await store(source)
        yield* listed
      },
    }
    expect(await run({ from: changing })).to.include({ isComplete: true, files: 2, passes: 4 })
    expect(await contents(target)).to.deep.equal(await contents(source))
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
    expect(await run({ from: failing })).to.include({ isComplete: false, notCopied: 1 })
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

  it('keeps the copy of an original that the source has lost, until its record is deleted too', async () => {
    const key = await store(source)
    await run()
    await source.delete([storedKey(key)])
    expect(await run()).to.include({ isComplete: false, notCopied: 1, deleted: 0 })
    expect(troubles).to.deep.equal([`missing ${key}`])
    expect(await textOf(target, key)).to.equal('text')
    let lists = 0
    const deleting: Bucket = {
      ...source,
      async *listObjects(prefix, options) {
        lists += 1
        if (lists === 2) await source.delete([recordKey(storedKey(key))])
        yield* source.listObjects(prefix, options)
      },
    }
    expect(await run({ from: deleting })).to.include({ isComplete: true, deleted: 2 })
    expect(troubles, 'a service deletes the bytes before the record').to.have.length(1)
  })

  it('keeps the files of a client whose folder the source has lost', async () => {
    const { both, from, to } = await ofTwoClients()
    const key = await store(from)
    await run(both)
    await from.delete([storedKey(key), recordKey(storedKey(key))])
    const found = async ({ key, detail }: BackupTrouble) => void troubles.push(`${key} ${detail}`)
    expect(await run({ ...both, found })).to.include({ isComplete: false, notCopied: 1, deleted: 0 })
    expect(troubles).to.have.length(1)
    expect(troubles[0]).to.match(/^\/ .* delete \/target\/7JAiMJ5xg1x$/)
    expect(await textOf(to, key)).to.equal('text')
  })

  it('copies a record that changes back after a run that was killed', async () => {
    const key = recordKey(storedKey(await store(source)))
    const [a, b] = ['{"tags":["a"]}', '{"tags":["b"]}']
    const tagOf = async (key: string) => sha256(await textOf(source, key))
    // As in S3: equal bytes have equal tags.
    const from: Bucket = {
      ...source,
      async find(found, known) {
        const asset = await source.find(found, known)
        return asset && { ...asset, tag: await tagOf(found) }
      },
      async *listObjects(prefix, options) {
        for await (const object of source.listObjects(prefix, options))
          yield { ...object, tag: await tagOf(object.key) }
      },
    }
    await put(source, key, a)
    await run({ from })
    await put(source, key, b)
    const killed: Bucket = {
      ...target,
      async put(found, bytes, options) {
        if (found !== migrationStateKey) return target.put(found, bytes, options)
        bytes.destroy()
        throw new Error('killed')
      },
    }
    await rejection(run({ from, targetOf: () => killed }))
    expect(await textOf(target, key)).to.equal(b)
    await put(source, key, a)
    await run({ from })
    expect(await textOf(target, key)).to.equal(a)
  })

  it('compares the bytes only of what has changed since the last run, also after an interruption', async () => {
    const changed = await store(source)
    for (let i = 0; i < 3; i += 1) await store(source)
    await run()
    await put(source, recordKey(storedKey(changed)), JSON.stringify({ storedAt: 0, tags: ['b'] }))
    const read: string[] = []
    const reading: Bucket = {
      ...source,
      find(key, known) {
        read.push(key)
        return source.find(key, known)
      },
    }
    await run({ from: reading })
    expect(new Set(read)).to.deep.equal(new Set([recordKey(storedKey(changed))]))
    expect(await contents(target)).to.deep.equal(await contents(source))

    const stopped = new AbortController()
    const stop = new Error('stopped')
    const stopping: Bucket = {
      ...reading,
      async *listObjects(prefix, options) {
        for await (const object of source.listObjects(prefix, options)) {
          stopped.abort(stop)
          yield object
        }
      },
    }
    expect(await rejection(run({ from: stopping, signal: stopped.signal }))).to.equal(stop)
    read.length = 0
    await run({ from: reading })
    // Of five objects, the one that the stopped run has begun with.
    expect(read).to.have.length.of.at.most(1)
  })

  it('deletes nothing more when the source has disappeared', async () => {
    const key = await store(source)
    await run()
    let isMounted = true
    const unmounted: Bucket = {
      ...source,
      listObjects() {
        isMounted = false
        return bucketOf('empty').listObjects('')
      },
      find: async (found, known) => (isMounted ? source.find(found, known) : undefined),
    }
    const error = (await rejection(run({ from: unmounted }))) as Error
    expect(error.message).to.include('the source has no files any more')
    expect(await textOf(target, key)).to.equal('text')
  })

  it('deletes the files of a client that was removed at the source', async () => {
    const { both, record, from, to } = await ofTwoClients()
    const key = await store(from)
    await run(both)
    expect(await textOf(to, key)).to.equal('text')
    await source.delete([record])
    await from.delete([storedKey(key), recordKey(storedKey(key))])
    await run({ ...both, installation: { ...both.installation, clients: async () => [FIRST] } })
    expect(await contents(to)).to.deep.equal({})
  })

  it('reports a key that the target cannot have, and copies the others', async () => {
    await put(source, 'foreign/a', 'file')
    await put(target, 'foreign/a/b', 'of another program')
    const key = await store(source)
    const isForeign = (name: string) => name === 'foreign/a'
    expect(await run({ isForeign })).to.include({ isComplete: false, notCopied: 1 })
    expect(troubles).to.deep.equal(['refused foreign/a'])
    expect(await textOf(target, key)).to.equal('text')
  })

  it('changes no bucket of another installation, and none that a service uses already', async () => {
    await put(target, CLIENT, '{"token":"pub_2"}')
    expect(((await rejection(run())) as Error).message).to.include('the target has files already')
    await target.delete([storedKey(CLIENT)])
    await store(source)
    await run()
    await endMigration(target)
    await store(target)
    const before = await contents(target)
    await store(source)
    expect(((await rejection(run())) as Error).message).to.include('a service has used them since')
    expect(await contents(target)).to.deep.equal(before)
  })

  it('deletes nothing at a target that a service begins to use during the run', async () => {
    const deleted = await store(source)
    await run()
    await source.delete([storedKey(deleted), recordKey(storedKey(deleted))])
    const starting: Bucket = {
      ...source,
      async *listObjects(prefix, options) {
        await endMigration(target)
        yield* source.listObjects(prefix, options)
      },
    }
    const error = (await rejection(run({ from: starting }))) as Error
    expect(error.message).to.include('or a service, uses this target now')
    expect(await textOf(target, deleted)).to.equal('text')
  })
})
