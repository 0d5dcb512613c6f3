import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { inProcessLocks } from '../../../src/adapters/locks/in-process.ts'
import { withTarget } from '../../../src/core/aliases/alias.ts'
import { aliasRecordKey } from '../../../src/core/aliases/name.ts'
import { assetFromBytes } from '../../../src/core/bytes/asset.ts'
import type { Client } from '../../../src/core/clients/client.ts'
import { newFileId, storedKey } from '../../../src/core/files/object-key.ts'
import type { Bucket, Buckets } from '../../../src/core/ports/bucket.ts'
import { unavailable } from '../../../src/core/problem.ts'
import { type AliasRecords, createAliasRecords } from '../../../src/service/aliases/alias-records.ts'
import { rejection } from '../../support/rejection.ts'

const client: Client = { id: 'shop', token: 'pub_shop', secrets: [], createdAt: 0 }
const name = 'a/b.jpg'
const newAlias = () => withTarget(undefined, { name, key: storedKey(`image/jpeg/${newFileId()}.jpg`), at: 0 })

describe('reads of aliases for deliveries', () => {
  let now: number
  let reads: number
  let objects: Map<string, Buffer>
  let delay: Promise<void> | undefined
  let records: AliasRecords

  beforeEach(() => {
    now = 0
    reads = 0
    objects = new Map()
    delay = undefined
    const bucket: Partial<Bucket> = {
      async find(key) {
        reads += 1
        const bytes = objects.get(key)
        await delay
        return bytes && assetFromBytes(bytes, { mediaType: 'application/json', lastModified: new Date(0) })
      },
      async put(key, bytes) {
        objects.set(key, Buffer.from(await text(bytes)))
      },
      async delete(keys) {
        for (const key of keys) objects.delete(key)
        return { failed: [] }
      },
    }
    const buckets = { of: () => bucket as Bucket } as unknown as Buckets
    records = createAliasRecords({ buckets, locks: inProcessLocks(), now: () => now })
  })

  const change = (alias: ReturnType<typeof newAlias> | undefined) =>
    records.change(client, name, (record) => (alias ? record.put(alias) : record.delete()), {
      signal: new AbortController().signal,
    })

  it('read the bucket once a second', async () => {
    const alias = newAlias()
    await change(alias)
    for (const at of [0, 500, 999]) {
      now = at
      expect(await records.readSoon(client, name)).to.deep.equal(alias)
    }
    expect(reads).to.equal(1)
    now = 1000
    await records.readSoon(client, name)
    expect(reads).to.equal(2)
  })

  it('share one read in progress', async () => {
    await change(newAlias())
    await Promise.all(Array.from({ length: 5 }, () => records.readSoon(client, name)))
    expect(reads).to.equal(1)
  })

  it('see a change and a delete by this process at once', async () => {
    await change(newAlias())
    await records.readSoon(client, name)
    const next = newAlias()
    await change(next)
    expect(await records.readSoon(client, name)).to.deep.equal(next)
    await change(undefined)
    expect(await records.readSoon(client, name)).to.equal(undefined)
  })

  it('do not reuse a read that began before a change and ended after it', async () => {
    const former = newAlias()
    await change(former)
    let end = () => {}
    delay = new Promise((done) => {
      end = done
    })
    const early = records.readSoon(client, name)
    delay = undefined
    const next = newAlias()
    await change(next)
    end()
    expect(await early).to.deep.equal(former)
    expect(await records.readSoon(client, name)).to.deep.equal(next)
  })

  it('see an alias of another process as soon as it exists', async () => {
    expect(await records.readSoon(client, name)).to.equal(undefined)
    const other = newAlias()
    objects.set(aliasRecordKey(name), Buffer.from(JSON.stringify(other)))
    expect(await records.readSoon(client, name)).to.deep.equal(other)
  })

  it('do not reuse a failure', async () => {
    await change(newAlias())
    delay = Promise.reject(unavailable('the bucket is away'))
    expect(await rejection(records.readSoon(client, name))).to.include({ status: 503 })
    delay = undefined
    expect(await records.readSoon(client, name)).to.not.equal(undefined)
  })
})
