import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import { diskBuckets } from '../../../src/adapters/bucket/disk/disk.ts'
import { bucketClientStore } from '../../../src/adapters/client-store/bucket.ts'
import { RECORD_LAYOUT } from '../../../src/adapters/client-store/record.ts'
import { clientRecordPrefix, storedKey } from '../../../src/core/files/object-key.ts'
import type { Bucket } from '../../../src/core/ports/bucket.ts'
import { clientStoreContract, newClient } from '../../contracts/client-store.ts'
import { rejection } from '../../support/rejection.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

async function open() {
  const folder = await temporaryFolder()
  const buckets = await diskBuckets({ folder, urlOf: (key) => key })
  const bucket = buckets.of({ id: 'first', token: '' })
  const clock = { now: 1_800_000_000_000 }
  const now = () => clock.now
  return {
    bucket,
    clock,
    records: join(folder, 'first', clientRecordPrefix),
    store: await bucketClientStore(bucket, { now }),
    reopen: () => bucketClientStore(bucket, { now }),
    close: () => rm(folder, { recursive: true }),
  }
}

clientStoreContract('bucket', open)

describe('bucket: the records of clients', () => {
  let opened: Awaited<ReturnType<typeof open>>
  beforeEach(async () => {
    opened = await open()
  })
  afterEach(() => opened.close())

  it('are one object per client, without any secret', async () => {
    const { store, records } = opened
    const all = [newClient(), newClient()]
    for (const { client, secret } of all)
      await store.save({ ...client, secret, secretClientToken: secret } as typeof client)
    expect((await readdir(records)).sort()).to.deep.equal(all.map(({ client }) => `${client.id}.json`).sort())
    for (const { client, secret } of all) {
      const text = await readFile(join(records, `${client.id}.json`), 'utf8')
      expect(JSON.parse(text)).to.deep.equal({ ...client, layout: RECORD_LAYOUT })
      expect(text).to.not.include(secret)
      expect(store.find(client.id)).to.deep.equal(client)
    }
  })

  it('of a newer version are refused, with the number of their layout', async () => {
    const { store, records, reopen } = opened
    const { client } = newClient()
    await store.save(client)
    const newer = JSON.stringify({ id: 'changed in some way', layout: RECORD_LAYOUT + 1 })
    await writeFile(join(records, `${client.id}.json`), newer)
    expect(String(await rejection(reopen()))).to.include(`layout ${RECORD_LAYOUT + 1} of a newer version`)
  })

  it('are written before the client is known', async () => {
    const { bucket } = opened
    const full: Bucket = {
      ...bucket,
      put: async () => {
        throw new Error('the disk is full')
      },
    }
    const store = await bucketClientStore(full)
    const { client, secret } = newClient()
    expect(await rejection(store.save(client))).to.have.property('message', 'the disk is full')
    expect(store.list()).to.deep.equal([])
    expect(store.findByToken(client.token)).to.equal(undefined)
    expect(store.findBySecret(secret)).to.equal(undefined)
  })

  it('can be written again after a write has failed', async () => {
    const { bucket } = opened
    let failures = 1
    const store = await bucketClientStore({
      ...bucket,
      put: async (...args) => {
        failures -= 1
        if (failures >= 0) throw new Error('once')
        return bucket.put(...args)
      },
    })
    const { client } = newClient()
    const outcomes = await Promise.allSettled([store.save(client), store.save(client)])
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'fulfilled'])
    expect((await opened.reopen()).list()).to.deep.equal([client])
  })

  for (const [what, text] of Object.entries({
    'no JSON': '{"id": ',
    'no client': '{"id": "x"}',
    'a digest that is none': '{"id":"x","token":"t","secrets":[{"digest":"short"}],"createdAt":1}',
    'a former one with a digest that is none':
      '{"id":"x","token":"t","secretDigests":["short"],"createdAt":1}',
    'not an object': 'null',
  })) {
    it(`prevent the start, with their name in the error, when one is ${what}`, async () => {
      const { store, records, reopen } = opened
      await store.save(newClient().client)
      await writeFile(join(records, 'broken.json'), text)
      const error = (await rejection(reopen())) as Error
      expect(error.message).to.include('.sluice/clients/broken.json')
    })
  }

  it('are read in the format without expiry of secrets', async () => {
    const { records, reopen, store } = opened
    const { client, secret } = newClient()
    const { secrets, ...rest } = client
    await store.save(newClient().client)
    const former = { ...rest, secretDigests: secrets.map(({ digest }) => digest) }
    await writeFile(join(records, `${client.id}.json`), JSON.stringify(former))
    const reopened = await reopen()
    expect(reopened.find(client.id)).to.deep.equal(client)
    expect(reopened.findBySecret(secret)?.client).to.deep.equal(client)
  })

  it('may be deleted between being listed and being read', async () => {
    const { bucket, store } = opened
    const { client } = newClient()
    await store.save(client)
    const vanishing: Bucket = {
      ...bucket,
      async *list(prefix) {
        yield storedKey(`${prefix}vanished.json`)
        yield* bucket.list(prefix)
      },
    }
    expect((await bucketClientStore(vanishing)).list()).to.deep.equal([client])
  })

  it('are next to other records of the service, which are ignored', async () => {
    const { bucket, reopen } = opened
    await bucket.put(storedKey('.sluice/meta/a.json'), Readable.from(['{}']), {
      mediaType: 'application/json',
    })
    expect((await reopen()).list()).to.deep.equal([])
  })
})
