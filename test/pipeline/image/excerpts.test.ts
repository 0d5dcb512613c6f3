import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { assetFromBytes, lengthOf, readAll } from '../../../src/core/bytes/asset.ts'
import { knownFormat } from '../../../src/core/media/formats.ts'
import { RAW_FORMATS } from '../../../src/core/media/photos.ts'
import { Problem } from '../../../src/core/problem.ts'
import { psd } from '../../../src/engines/image/decoders/psd.ts'
import { excerptOf } from '../../../src/engines/image/excerpts/excerpt.ts'
import { mutated } from '../../support/media/mutated.ts'
import { PROJECT } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'

const OPTIONS = { maxPixels: 1_000_000, check: () => {} }
const { signal } = new AbortController()
const fileOf = (name: string) => readFile(join(PROJECT, 'test/corpus/files', name))
const photoOf = (format: string) => fileOf(`camera.${format}`)

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
      const { asset, read } = counted(
        Buffer.concat([await photoOf(format), Buffer.alloc(10_000_000)]),
        format,
      )
      const preview = await excerptOf(asset, signal)
      expect((await readAll(preview ?? asset)).subarray(0, 2).toString('hex'), format).to.equal('ffd8')
      expect(read.bytes, format).to.be.below(500_000)
    }
  })

  it('is found or refused, whatever the bytes are', async function () {
    this.timeout(sized(60_000, 600_000))
    for (const format of RAW_FORMATS) {
      const file = await photoOf(format)
      for (const bytes of mutated([file], { count: sized(30, 2000), spared: 4 })) {
        const { asset, read } = counted(bytes, format)
        const preview = await excerptOf(asset, signal).catch((err) => {
          if (err instanceof Problem) return undefined
          throw err
        })
        if (preview) await readAll(preview)
        expect(read.bytes).to.be.below(1_000_000)
      }
    }
  })
})

describe('a PSD without its layers', () => {
  /** The same PSD with more bytes of layers. */
  function withLayers(file: Buffer, more: number): Buffer {
    const resourcesAt = 30 + file.readUInt32BE(26)
    const layersAt = resourcesAt + 4 + file.readUInt32BE(resourcesAt)
    const length = file.readUInt32BE(layersAt)
    const end = layersAt + 4 + length
    const larger = Buffer.concat([file.subarray(0, end), Buffer.alloc(more), file.subarray(end)])
    larger.writeUInt32BE(length + more, layersAt)
    return larger
  }

  it('has the same pixels, and is found without reading the layers', async () => {
    for (const name of ['psd-alpha.psd', 'psd-grey.psd']) {
      const file = await fileOf(name)
      const { asset, read } = counted(withLayers(file, 10_000_000), 'psd')
      const excerpt = await readAll((await excerptOf(asset, signal)) ?? asset)
      expect(read.bytes).to.be.below(500_000)
      const [all, some] = [await psd.decode(file, OPTIONS), await psd.decode(excerpt, OPTIONS)]
      expect(some.bytes.equals(all.bytes), name).to.equal(true)
      expect(psd.facts(excerpt)).to.deep.equal(psd.facts(file))
    }
  })

  it('is the PSD itself when it is small or invalid', async () => {
    const file = await fileOf('psd-alpha.psd')
    const invalid = Buffer.concat([file.subarray(0, 40), Buffer.alloc(2_000_000, 255)])
    for (const bytes of [file, invalid])
      expect(await excerptOf(counted(bytes, 'psd').asset, signal)).to.equal(undefined)
  })
})
