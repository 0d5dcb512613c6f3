import { expect } from 'chai'
import { type Asset, assetFromBytes } from '../../../src/core/bytes/asset.ts'
import { type ObjectKey, recordKey } from '../../../src/core/files/object-key.ts'
import type { Bucket } from '../../../src/core/ports/bucket.ts'
import {
  fileNotFound,
  fileReplaced,
  isFileReplaced,
  Problem,
  unavailable,
} from '../../../src/core/problem.ts'
import { snapshot } from '../../../src/core/storage/small-object.ts'
import { rejection } from '../../support/rejection.ts'

const KEY = recordKey('file/txt/abc/abc.txt' as ObjectKey)
const asset = (text: string) =>
  assetFromBytes(Buffer.from(text), { mediaType: 'text/plain', lastModified: new Date(0) })

const failing = (error: Error): Asset => ({
  ...asset('a'),
  open: async () => {
    throw error
  },
})
/** As a file that is replaced after it was found: buckets refuse the read of a range. */
const torn = (before: string): Asset => ({ ...failing(fileReplaced()), size: before.length })

describe('a snapshot of a small file', () => {
  let asked = 0
  const read = (...states: Array<Asset | undefined>) => {
    asked = 0
    const find: Bucket['find'] = async () => {
      asked += 1
      return states[Math.min(asked, states.length) - 1]
    }
    return snapshot({ find } as Bucket, KEY)
  }

  it('has its bytes', async () => {
    const found = await read(asset('one'))
    expect(found?.bytes.toString()).to.equal('one')
    expect(found).to.include({ size: 3, mediaType: 'text/plain' })
  })

  it('is undefined when the file does not exist', async () => {
    expect(await read(undefined)).to.equal(undefined)
  })

  it('is of one moment when the file is replaced while it is read', async () => {
    expect((await read(torn('one'), torn('longer'), asset('two')))?.bytes.toString()).to.equal('two')
  })

  it('is undefined when the file is deleted while it is read', async () => {
    expect(await read(failing(fileNotFound()), undefined)).to.equal(undefined)
  })

  it('fails when the file is replaced during each read', async () => {
    expect(isFileReplaced(await rejection(read(torn('one'))))).to.equal(true)
    expect(asked).to.equal(3)
  })

  it('fails at once when the bucket is unavailable', async () => {
    const error = await rejection(read(failing(unavailable('the bucket does not answer'))))
    expect(error).to.be.instanceOf(Problem)
    expect(asked).to.equal(1)
  })
})
