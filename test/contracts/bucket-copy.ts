import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import { readAll } from '../../src/core/bytes/asset.ts'
import { newClientId, newClientToken } from '../../src/core/clients/client.ts'
import { newFileId, newOriginal, type ObjectKey } from '../../src/core/files/object-key.ts'
import { knownFormat } from '../../src/core/media/formats.ts'
import type { Bucket } from '../../src/core/ports/bucket.ts'
import { rejection } from '../support/rejection.ts'
import { everyNth, sized } from '../support/sized.ts'
import { ODD_FOLDERS, type OpenedBuckets } from './bucket.ts'

const PNG = { mediaType: 'image/png' }

/** What every bucket has to do when it copies an object, seen through the port alone. */
export function bucketCopyContract(name: string, open: () => Promise<OpenedBuckets>): void {
  describe(`${name}: the contract of Bucket.copy`, () => {
    let opened: OpenedBuckets
    let bucket: Bucket
    before(async () => {
      opened = await open()
    })
    after(() => opened.close())
    beforeEach(() => {
      bucket = newBucket()
    })

    const newBucket = () => opened.buckets.of({ id: newClientId(), token: newClientToken() })
    const keyIn = (folder: string, format = 'png') =>
      newOriginal({ folder, format: knownFormat(format), id: newFileId() }).key
    const put = (key: ObjectKey, bytes: string | Buffer, mediaType = 'image/png') =>
      bucket.put(key, Readable.from([Buffer.from(bytes)]), { mediaType })
    const text = async (key: ObjectKey) => {
      const asset = await bucket.find(key)
      return asset && String(await readAll(asset))
    }
    const keys = async () => {
      const all: string[] = []
      for await (const key of bucket.list('')) all.push(key)
      return all.sort()
    }

    it('adds the bytes and the media type under the other key, in a new folder', async () => {
      const [from, to] = [keyIn('a', 'txt'), keyIn('b/c', 'txt')]
      const mediaType = 'text/plain; charset=utf-8'
      await put(from, 'the text', mediaType)
      expect(await bucket.copy(from, to, { mediaType })).to.equal(true)
      expect(await text(to)).to.equal('the text')
      expect((await bucket.find(to))?.mediaType).to.match(/^text\/plain/)
      expect(await keys()).to.deep.equal([from, to].sort())
    })

    it('leaves a copy that does not depend on the object any more', async () => {
      const [from, to, again] = [keyIn('a'), keyIn('a'), keyIn('b')]
      await put(from, 'first')
      await bucket.copy(from, to, PNG)
      await put(from, 'another')
      expect(await text(to)).to.equal('first')
      await bucket.copy(to, again, PNG)
      await bucket.delete([from, to])
      expect(await text(again)).to.equal('first')
      expect(await keys()).to.deep.equal([again])
    })

    it('replaces an object, also by a second copy of the same', async () => {
      const [from, to] = [keyIn('a'), keyIn('a')]
      await put(from, 'new')
      await put(to, 'the former object')
      for (const _ of [1, 2]) {
        expect(await bucket.copy(from, to, PNG)).to.equal(true)
        expect(await text(to)).to.equal('new')
      }
      expect(await text(from)).to.equal('new')
      expect(await keys()).to.deep.equal([from, to].sort())
    })

    it('returns false for an object that does not exist, and changes nothing', async () => {
      const to = keyIn('a')
      expect(await bucket.copy(keyIn('b'), to, PNG)).to.equal(false)
      expect(await keys()).to.deep.equal([])
      await put(to, 'as it was')
      expect(await bucket.copy(keyIn('b'), to, PNG)).to.equal(false)
      expect(await text(to)).to.equal('as it was')
      const other = newBucket()
      expect(await other.copy(to, keyIn('c'), PNG)).to.equal(false)
    })

    it('copies an empty object, and one of several megabytes', async () => {
      for (const size of [0, 9 * 1024 * 1024]) {
        const [from, to] = [keyIn('a'), keyIn('b')]
        const bytes = Buffer.alloc(size, 'some bytes of a file')
        await put(from, bytes)
        await bucket.copy(from, to, PNG)
        const asset = await bucket.find(to)
        const copied = asset && (await readAll(asset))
        expect(copied && digest(copied)).to.equal(digest(bytes))
      }
    })

    it('accepts every unusual character that a folder may contain', async () => {
      await Promise.all(
        everyNth(3, ODD_FOLDERS).map(async (folder) => {
          const [from, to] = [keyIn(folder), keyIn(`x/${folder}`)]
          await put(from, folder)
          expect(await bucket.copy(from, to, PNG), folder).to.equal(true)
          expect(await text(to)).to.equal(folder)
        }),
      )
    })

    it('copies nothing when the signal is already aborted', async () => {
      const [from, to] = [keyIn('a'), keyIn('b')]
      await put(from, 'x')
      const reason = new Error('disconnected')
      const signal = AbortSignal.abort(reason)
      expect(await rejection(bucket.copy(from, to, { ...PNG, signal }))).to.equal(reason)
      expect(await keys()).to.deep.equal([from])
    })

    it('leaves a complete copy, or nothing, with a concurrent delete', async () => {
      for (let round = 0; round < sized(4, 10); round += 1) {
        const [from, to] = [keyIn('a/b/c'), keyIn('x/y/z')]
        await put(from, 'whole')
        const [isCopied] = await Promise.all([bucket.copy(from, to, PNG), bucket.delete([from])])
        expect(await text(to)).to.equal(isCopied ? 'whole' : undefined)
        await bucket.delete([to])
      }
    })
  })
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
