import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { assetFromBytes, lengthOf, readAll } from '../../../src/core/bytes/asset.ts'
import { knownFormat } from '../../../src/core/media/formats.ts'
import { RAW_FORMATS } from '../../../src/core/media/photos.ts'
import { Problem } from '../../../src/core/problem.ts'
import { previewOf } from '../../../src/engines/image/raw/preview.ts'
import { mutated } from '../../support/media/mutated.ts'
import { PROJECT } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'

const { signal } = new AbortController()
const fileOf = (format: string) => readFile(join(PROJECT, 'test/corpus/files', `camera.${format}`))

/** An asset that counts the bytes that are read of it. */
function counted(bytes: Buffer, format: string) {
  const { mediaType } = knownFormat(format)
  const asset = assetFromBytes(bytes, { mediaType, lastModified: new Date(0) })
  const read = { bytes: 0 }
  const open: typeof asset.open = (options) => {
    read.bytes += options?.range ? lengthOf(options.range) : asset.size
    return asset.open(options)
  }
  return { asset: { ...asset, open }, read }
}

describe('the preview of a RAW photo', () => {
  it('is found without reading the rest of the file', async () => {
    for (const format of RAW_FORMATS) {
      const { asset, read } = counted(Buffer.concat([await fileOf(format), Buffer.alloc(10_000_000)]), format)
      const preview = await previewOf(asset, signal)
      expect((await readAll(preview ?? asset)).subarray(0, 2).toString('hex'), format).to.equal('ffd8')
      expect(read.bytes, format).to.be.below(500_000)
    }
  })

  it('is found or refused, whatever the bytes are', async () => {
    for (const format of RAW_FORMATS) {
      const file = await fileOf(format)
      for (const bytes of mutated([file], { count: sized(100, 2000), spared: 4 })) {
        const { asset, read } = counted(bytes, format)
        const preview = await previewOf(asset, signal).catch((err) => {
          if (err instanceof Problem) return undefined
          throw err
        })
        if (preview) await readAll(preview)
        expect(read.bytes).to.be.below(1_000_000)
      }
    }
  })
})
