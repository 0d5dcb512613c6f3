import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import sharp from 'sharp'
import { onOneBackend } from '../../support/backends.ts'
import { colourAt } from '../../support/media/images.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { PROJECT, type Service } from '../../support/service.ts'
import { everyNth } from '../../support/sized.ts'

const fileOf = (name: string) => readFile(join(PROJECT, 'test/corpus/files', name))

// All previews have 48 x 36 px and are red at the top; `exiftool -b` extracts the same ones. The orientation turns the
// photos clockwise.
const CAMERAS = ['cr2', 'nef', 'arw', 'cr3', 'pef', 'dng', 'raf', 'orf', 'rw2']

onOneBackend('a RAW photo', (start) => {
  let service: Service
  before(async () => {
    service = await start()
  })

  async function requested(bytes: Buffer, { name, query }: { name: string; query: string }) {
    const { src } = await uploadOne(service, { name, bytes })
    return { ...(await exchange(service, `${src}?${query}`)), src }
  }

  for (const extension of everyNth(3, CAMERAS)) {
    it(`is rendered from the largest preview, upright: ${extension}`, async () => {
      // The bytes alone determine the format.
      const bytes = await fileOf(`camera.${extension}`)
      const { status, headers, body, src } = await requested(bytes, { name: 'photo', query: 'w=30' })
      expect(status, body.toString('utf8', 0, 200)).to.equal(200)
      expect(src).to.match(new RegExp(`\\.${extension}$`))
      expect(headers['content-type']).to.equal('image/jpeg')
      expect(await sharp(body).metadata()).to.include({ width: 30, height: 40 })
      const [left, right] = [await colourAt(body, 1, 20), await colourAt(body, 28, 20)]
      expect(left.b - left.r, 'blue at the left').to.be.above(150)
      expect(right.r - right.b, 'red at the right').to.be.above(150)
    })
  }

  it('has the facts of the camera in its information', async () => {
    const { src } = await requested(await fileOf('camera.nef'), { name: 'a.nef', query: 'w=9' })
    const known = await exchange(service, src.replace('/upload/', '/info/'))
    expect(known.status, known.body.toString()).to.equal(200)
    expect(jsonOf(known)).to.include({ width: 36, height: 48, hasAlpha: false })
    expect(jsonOf(known)).to.have.nested.property('exif.Model', 'NIKON D70')
  })

  it('may be larger than the limit of images: only its preview counts', async () => {
    const small = await start({ env: { IMAGE_MAX_BYTES: '100000' } })
    const bytes = await fileOf('camera.cr2')
    const large = Buffer.concat([bytes, Buffer.alloc(500_000)])
    const { src } = await uploadOne(small, { name: 'a.cr2', bytes: large })
    expect((await exchange(small, `${src}?w=30`)).status).to.equal(200)
    const limited = await start({ env: { IMAGE_MAX_BYTES: '400' } })
    const other = await uploadOne(limited, { name: 'a.cr2', bytes })
    const answer = await exchange(limited, `${other.src}?w=30`)
    expect(answer.status).to.equal(422)
    expect(jsonOf(answer)).to.include({ code: 'not_transformable' })
  })

  it('without a preview is refused', async () => {
    const { status, body } = await requested(await fileOf('photo-le.dng'), { name: 'a.dng', query: 'w=30' })
    expect(status).to.equal(422)
    expect(body.toString()).to.contain('expected a RAW photo with a JPEG as its preview')
  })
})
