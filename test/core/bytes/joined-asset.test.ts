import { expect } from 'chai'
import { assetFromBytes, readWhole } from '../../../src/core/bytes/asset.ts'
import { joinedAsset } from '../../../src/core/bytes/joined-asset.ts'

const DATE = new Date(0)

describe('bytes in memory that part of a file follows', () => {
  const file = assetFromBytes(Buffer.from('..34567..'), { mediaType: 'image/x-a', lastModified: DATE })
  const joined = joinedAsset(Buffer.from('012'), { file, rest: { start: 2, end: 6 }, mediaType: 'image/b' })

  it('are one asset', async () => {
    expect(joined).to.include({ size: 8, mediaType: 'image/b', lastModified: DATE })
    expect((await readWhole(joined)).toString()).to.equal('01234567')
  })

  it('have any range', async () => {
    for (let start = 0; start < 8; start += 1) {
      for (let end = start; end < 8; end += 1) {
        const part = await readWhole(joined, { range: { start, end } })
        expect(part.toString(), `${start}-${end}`).to.equal('01234567'.slice(start, end + 1))
      }
    }
  })

  it('are only the bytes in memory when nothing follows', async () => {
    const alone = joinedAsset(Buffer.from('012'), { file, rest: undefined, mediaType: 'image/b' })
    expect((await readWhole(alone)).toString()).to.equal('012')
  })

  it('fail when the file fails', async () => {
    const broken = { ...file, open: () => Promise.reject(new Error('deleted')) }
    const { open } = joinedAsset(Buffer.from('012'), {
      file: broken,
      rest: { start: 2, end: 6 },
      mediaType: 'a',
    })
    expect(await open().catch((err: Error) => err.message)).to.equal('deleted')
  })
})
