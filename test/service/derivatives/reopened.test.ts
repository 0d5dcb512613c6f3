import { Readable } from 'node:stream'
import { expect } from 'chai'
import { assetFromBytes, readAll } from '../../../src/core/bytes/asset.ts'
import { fileNotFound } from '../../../src/core/problem.ts'
import { reopened } from '../../../src/service/derivatives/reopened.ts'
import { rejection } from '../../support/rejection.ts'

const ABOUT = { mediaType: 'image/png', lastModified: new Date(0) }
const asset = (text: string) => assetFromBytes(Buffer.from(text), ABOUT)

describe('a derivative that is evicted between lookup and opening', () => {
  const evicted = { ...asset('old'), open: () => Promise.reject(fileNotFound()) }

  it('is rendered again', async () => {
    const again = async () => asset('new')
    expect(String(await readAll(reopened(evicted, again)))).to.equal('new')
  })

  it('is a 503 when its size has changed, and another failure is unchanged', async () => {
    const longer = reopened(evicted, async () => asset('longer'))
    expect(await rejection(longer.open())).to.include({ status: 503 })
    const failing = { ...asset('old'), open: async () => Promise.reject(new Error('EIO')) }
    const never = async () => expect.fail('rendered')
    expect(await rejection(reopened(failing, never).open())).to.include({ message: 'EIO' })
  })

  it('is read as found while it exists', async () => {
    const never = async () => expect.fail('rendered')
    expect(await reopened(asset('old'), never).open()).to.be.instanceOf(Readable)
  })
})
