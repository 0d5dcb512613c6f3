import { expect } from 'chai'
import { aroundStorage } from '../../src/adapters/around-storage.ts'
import { tracedStorage } from '../../src/adapters/telemetry/traced-storage.ts'
import type { Storage } from '../../src/app.ts'
import { assetFromBytes } from '../../src/core/bytes/asset.ts'
import { FIRST_CLIENT_ID } from '../../src/core/clients/client.ts'
import { storedKey } from '../../src/core/files/object-key.ts'
import type { AssumedObject, Bucket } from '../../src/core/ports/bucket.ts'
import type { Tracing } from '../../src/core/ports/telemetry/tracing.ts'
import { inRequest } from '../../src/core/request-context.ts'

const CLIENT = { id: FIRST_CLIENT_ID, token: '' }
const TRACE = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }

/** Storage with only these members of a bucket. */
function storageOf(bucket: Partial<Bucket>): Storage {
  return { buckets: { of: () => bucket }, index: {} } as unknown as Storage
}

describe('observed storage', () => {
  it('keeps what is no function, such as whether clients reach the bucket', () => {
    const around = <T>(_: string, call: () => T) => call()
    const storage = storageOf({ isReachable: false })
    const { buckets } = aroundStorage(storage, { bucket: around, index: around })
    expect(buckets.of(CLIENT).isReachable).to.equal(false)
  })

  it('observes the opening of a file of known size, which is its only request', async () => {
    const operations: string[] = []
    const around = <T>(operation: string, call: () => T) => {
      operations.push(operation)
      return call()
    }
    const asset = assetFromBytes(Buffer.from('a'), { mediaType: 'text/plain', lastModified: new Date(0) })
    const { buckets } = aroundStorage(storageOf({ assume: async () => asset }), {
      bucket: around,
      index: around,
    })
    const found = await buckets.of(CLIENT).assume(storedKey('a/txt/a'), { size: 1 } as AssumedObject)
    await found?.open()
    expect(operations).to.deep.equal(['assume', 'open'])
  })

  it('has at most 200 spans of calls below one span', async () => {
    const names: string[] = []
    const begin: Tracing['begin'] = (name) => {
      names.push(name)
      return { trace: TRACE, set: () => {}, end: () => {} }
    }
    const { buckets } = tracedStorage(storageOf({ abortPuts: async () => {} }), {
      begin,
      within: (_name, _options, work) => work(undefined),
    })
    const bucket = buckets.of(CLIENT)
    await inRequest({ trace: TRACE }, async () => {
      for (let i = 0; i < 201; i += 1) await bucket.abortPuts('a')
    })
    expect(names).to.deep.equal(Array(200).fill('bucket abortPuts'))
  })
})
