import { Readable } from 'node:stream'
import { expect } from 'chai'
import type { S3BucketOptions } from '../../../src/adapters/bucket/s3/s3.ts'
import type { Asset } from '../../../src/core/bytes/asset.ts'
import { FIRST_CLIENT_ID } from '../../../src/core/clients/client.ts'
import { derivativeKey } from '../../../src/core/files/object-key.ts'
import type { Buckets } from '../../../src/core/ports/bucket.ts'
import { Problem } from '../../../src/core/problem.ts'
import { eventually } from '../../support/eventually.ts'
import { inTime } from '../../support/promised.ts'
import { rejection } from '../../support/rejection.ts'
import type { Fate } from '../../support/servers/s3-proxy.ts'
import { type OwnS3Server, startS3 } from '../../support/servers/s3-server.ts'
import { everyNth, itLong, sized } from '../../support/sized.ts'
import { BESIDE, bytesOf, KEY, listed, MIB, onS3, PART, put, text, VIDEO } from './s3-setup.ts'

const AFTERWARDS = derivativeKey(KEY, 'w=2')

describe('s3: outages', () => {
  let own: OwnS3Server
  const s3 = onS3(async () => {
    own = await startS3()
    return own
  })
  after(() => own.end())
  const first = { id: FIRST_CLIENT_ID, token: '' }

  /** Each use of S3, with what it fails with. */
  const uses = (buckets: Buckets, asset: Asset): Record<string, () => Promise<unknown>> => {
    const bucket = buckets.of(first)
    return {
      find: () => rejection(bucket.find(KEY)),
      open: () => rejection(asset.open()),
      'open a range': () => rejection(asset.open({ range: { start: 1, end: 2 } })),
      'put little': () => rejection(put(bucket, KEY, 'y')),
      'put 5 MiB': () => rejection(put(bucket, KEY, bytesOf(5 * MIB).source)),
      'put parts': () => rejection(put(bucket, VIDEO, bytesOf(PART + 1).source)),
      'put from a source that continues': () => rejection(put(bucket, VIDEO, endless())),
      delete: async () => (await bucket.delete([KEY])).failed[0]?.error,
      'delete many': async () => {
        const keys = Array.from({ length: 2500 }, () => BESIDE).map((key, i) => `${key}${i}` as typeof BESIDE)
        const { failed } = await bucket.delete(keys)
        expect(failed).to.have.length(2500)
        return failed[2499]?.error
      },
      list: () => rejection(listed(bucket, '')),
      ping: () => rejection(buckets.ping()),
      sweep: () => rejection(buckets.sweep(0)),
    }
  }

  const outages: Record<string, Outage> = {
    'S3 is stopped': { isAloneToo: true, isLong: true, begin: () => own.stop(), end: () => own.restart() },
    'S3 is frozen': { isAloneToo: sized(false, true), begin: () => own.freeze(), end: () => own.thaw() },
    'S3 answers 503': {
      isAloneToo: true,
      begin: () => s3.proxy.decide(() => ({ kind: 'answer', status: 503 })),
      end: () => s3.proxy.decide(() => undefined),
    },
    // One kind of answer is enough here; the full size tries each.
    'S3 asks to slow down, and to come back in a minute': {
      isAloneToo: true,
      isLong: true,
      begin: () =>
        s3.proxy.decide(() => ({
          kind: 'answer',
          status: 503,
          headers: { 'retry-after': '60', 'content-type': 'application/xml' },
          body: '<Error><Code>SlowDown</Code></Error>',
        })),
      end: () => s3.proxy.decide(() => undefined),
    },
    'S3 resets every connection': {
      isAloneToo: true,
      isLong: true,
      begin: () => s3.proxy.decide(() => ({ kind: 'reset' })),
      end: () => s3.proxy.decide(() => undefined),
    },
    'S3 answers by what is no XML': {
      isAloneToo: true,
      isLong: true,
      begin: () => s3.proxy.decide(() => ({ kind: 'answer', status: 502, body: '<html>Bad Gateway' })),
      end: () => s3.proxy.decide(() => undefined),
    },
  }
  for (const [what, outage] of Object.entries(outages)) {
    const how = outage.isAloneToo ? 'alone and concurrently' : 'concurrently'
    const itTried = outage.isLong ? itLong : it
    itTried(`${what}: each operation is a 503 in time, ${how}, and works again afterwards`, async () => {
      // Straight to the server where that itself is out of order.
      const { endpoint } = /stopped|frozen/.test(what) ? own.connection : s3.proxy
      const open = () => s3.open({ endpoint })
      const buckets = await open()
      const bucket = buckets.of(first)
      await put(bucket, KEY, 'as it was')
      const asset = await bucket.find(KEY)
      if (!asset) throw new Error('nothing is there')
      const timed = async (use: string, work: () => Promise<unknown>) => {
        const error = await inTime(use, work())
        expect(error, use).to.be.instanceOf(Problem)
        expect(error, use).to.include({ status: 503, code: 'unavailable' })
        expect((error as Problem).cause, use).to.be.instanceOf(Error)
      }
      // Each use as the first to find out, and all together.
      const alone = Object.keys(outage.isAloneToo ? uses(buckets, asset) : {}).map(async (use) => {
        const own = uses(await open(), asset)[use] as () => Promise<unknown>
        return () => timed(use, own)
      })
      const runs = await Promise.all(alone)
      await outage.begin()
      try {
        await Promise.all(runs.map((run) => run()))
        await Promise.all(Object.entries(uses(buckets, asset)).map(([use, work]) => timed(use, work)))
      } finally {
        await outage.end()
      }
      // The limits of this test are so short that a busy S3 may exceed them.
      await eventually(async () => {
        // Under a key of its own: what S3 was asked before, it may still do now.
        await put(bucket, AFTERWARDS, 'new')
        expect(await text(bucket, AFTERWARDS)).to.equal('new')
        expect(await listed(bucket, AFTERWARDS)).to.deep.equal([AFTERWARDS])
        await buckets.ping()
        await buckets.sweep(0)
        expect(await bucket.delete([AFTERWARDS])).to.deep.equal({ failed: [] })
      })
    })
  }

  it('S3 is frozen: the cleanup after a failure ends in time, too', async () => {
    const bucket = (await s3.open({ endpoint: own.connection.endpoint })).of(first)
    await put(bucket, KEY, 'x')
    await own.freeze()
    try {
      const cleanUp = async () => {
        await rejection(put(bucket, VIDEO, bytesOf(5 * MIB).source))
        expect((await bucket.delete([VIDEO])).failed).to.have.length(1)
      }
      await inTime('clean-up', cleanUp())
    } finally {
      await own.thaw()
    }
    expect(await text(bucket, KEY)).to.equal('x')
  })

  it('S3 is slow: it gets the full time limit again after its first response', async () => {
    await put(s3.bucket, KEY, 'x')
    const slow: Fate = { kind: 'pass', delayMs: 600 }
    s3.proxy.decide(() => slow)
    expect(await text(s3.bucket, KEY)).to.equal('x')
    s3.proxy.decide(() => ({ kind: 'stall' }))
    await rejection(s3.bucket.find(KEY))
    s3.proxy.decide(() => slow)
    // No caller waits for long now,
    expect(await rejection(s3.bucket.find(KEY))).to.have.property('status', 503)
    s3.proxy.decide(() => undefined)
    // (a busy S3 may need longer than that)
    await eventually(async () => expect(await text(s3.bucket, KEY)).to.equal('x'))
    // but everybody does again.
    s3.proxy.decide(() => slow)
    expect(await text(s3.bucket, KEY)).to.equal('x')
  })

  describe('S3 refuses a request', () => {
    const refusals: Record<string, { options(): Partial<S3BucketOptions>; text: RegExp }> = {
      'a wrong secret': {
        options: () => ({ credentials: { accessKeyId: 'testkey', secretAccessKey: 'wrong' } }),
        text: /refused the credentials of the service .SignatureDoesNotMatch/,
      },
      'an unknown key': {
        options: () => ({ credentials: { accessKeyId: 'nobody', secretAccessKey: 'wrong' } }),
        text: /refused the credentials of the service .InvalidAccessKeyId/,
      },
      'a bucket that is not there': {
        options: () => ({ bucket: 'no-such-bucket' }),
        text: /refused a request of the service .NoSuchBucket/,
      },
    }
    for (const [what, { options, text }] of everyNth(2, Object.entries(refusals))) {
      it(`${what}: the error states it`, async () => {
        const buckets = await s3.open(options())
        const bucket = buckets.of(first)
        const errors = [
          await rejection(buckets.ping()),
          await rejection(put(bucket, KEY, 'x')),
          await rejection(put(bucket, VIDEO, bytesOf(PART + 1).source)),
          await rejection(listed(bucket, '')),
          (await bucket.delete([KEY])).failed[0]?.error,
        ]
        for (const error of errors) {
          expect(error).to.be.instanceOf(Problem).with.property('status', 503)
          expect(error).to.have.property('message').that.matches(text)
        }
        // An operator's mistake is not mended by asking again.
        expect(s3.proxy.seen).to.have.length(errors.length)
      })
    }

    it('a HEAD without an error code: it is not taken for a missing object', async () => {
      s3.proxy.decide(() => ({ kind: 'answer', status: 403 }))
      expect(await rejection(s3.bucket.find(KEY)))
        .to.have.property('message')
        .that.matches(/credentials of the service .403/)
    })
  })
})

interface Outage {
  /** Whether each operation is also tried as the first one of an outage. */
  isAloneToo: boolean
  isLong?: boolean
  begin(): Promise<void> | void
  end(): Promise<void> | void
}

/** As an upload from a slow client. */
function endless(): Readable {
  return new Readable({
    read() {
      setTimeout(() => this.push(Buffer.alloc(64 * 1024)), 5)
    },
  })
}
