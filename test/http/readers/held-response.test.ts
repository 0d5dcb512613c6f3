import { expect } from 'chai'
import type { Response } from 'express'
import { type Asset, assetFromBytes } from '../../../src/core/bytes/asset.ts'
import { holdResponse, type Readers } from '../../../src/http/readers/readers.ts'

describe('a response whose bytes are not stored', () => {
  const asset: Asset = assetFromBytes(Buffer.alloc(1000), {
    mediaType: 'image/png',
    lastModified: new Date(0),
  })
  let held: number
  const readers = {
    hold(bytes: number) {
      held += bytes
      return () => {
        held -= bytes
      }
    },
  } as Readers
  beforeEach(() => {
    held = 0
  })

  it('counts all bytes that it holds in memory, until it ends', () => {
    const end = holdResponse({} as Response, { asset, isHeld: true, readers })
    expect(held).to.equal(1000)
    end()
    expect(held).to.equal(0)
  })

  it('counts nothing while its bytes are being stored', () => {
    holdResponse({} as Response, { asset, readers })
    expect(held).to.equal(0)
  })

  it('counts its bytes once storing them has failed', () => {
    let fail = () => {}
    const failing: Asset = {
      ...asset,
      onNotStored(work) {
        fail = work
        return () => {}
      },
    }
    const end = holdResponse({} as Response, { asset: failing, readers })
    fail()
    expect(held).to.equal(1000)
    end()
    expect(held).to.equal(0)
  })
})
