import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import sharp from 'sharp'
import { onOneBackend } from '../../../support/backends.ts'
import { covered } from '../../../support/media/covers.ts'
import { colourAt, picture } from '../../../support/media/images.ts'
import { expectSurvival } from '../../../support/media/surviving.ts'
import { sound } from '../../../support/media/videos.ts'
import { NO_LIMITS } from '../../../support/no-limits.ts'
import { uploadOne } from '../../../support/requests/client.ts'
import { exchange, jsonOf } from '../../../support/requests/exchange.ts'
import { PROJECT, type Service } from '../../../support/service.ts'
import { itLong, sized } from '../../../support/sized.ts'

const fileOf = (name: string) => readFile(join(PROJECT, 'test/corpus/files', name))

onOneBackend('the cover', (start) => {
  let service: Service
  before(async () => {
    service = await start({ env: NO_LIMITS })
  })

  const requested = async (name: string, bytes: Buffer, query: string) =>
    exchange(service, `${(await uploadOne(service, { name, bytes })).src}?${query}`)

  const others: ReadonlyArray<readonly ['m4a' | 'flac', 'png' | 'jpeg']> = [
    ['m4a', 'png'],
    ['flac', 'jpeg'],
  ]
  for (const [format, cover] of [['mp3', 'jpeg'] as const, ...sized([], others)]) {
    it(`of an audio file is a picture: ${format}`, async () => {
      const bytes = await covered(format, await picture({ width: 600, height: 600, format: cover }))
      const whole = await requested(`a.${format}`, bytes, 'thumbnail')
      expect(whole.status, whole.body.toString('latin1', 0, 300)).to.equal(200)
      expect(whole.headers['content-type']).to.equal('image/jpeg')
      expect(await sharp(whole.body).metadata()).to.include({ width: 600, height: 600 })
      const small = await requested(`a.${format}`, bytes, 'thumbnail&w=60&f=webp')
      expect(await sharp(small.body).metadata()).to.include({ format: 'webp', width: 60, height: 60 })
      const red = await colourAt(small.body, 10, 10)
      expect(red.r).to.be.above(230)
      expect(red.g).to.be.below(25)
    })
  }

  it('of an e-book is a picture, with and without thumbnail', async () => {
    for (const name of ['book-cover.epub', 'book-epub2.epub']) {
      for (const query of ['thumbnail&w=60&f=webp', 'w=60&f=webp', 'thumbnail&f=webp']) {
        const { status, body } = await requested(name, await fileOf(name), query)
        expect(status, `${name} ${query} ${body.toString('latin1', 0, 200)}`).to.equal(200)
        const width = query.includes('w=60') ? 60 : 120
        expect(await sharp(body).metadata()).to.include({ format: 'webp', width, height: width * 1.5 })
        expect((await colourAt(body, 5, 2)).r, name).to.be.above(200)
      }
    }
  })

  it('of an e-book is in its information', async () => {
    const bytes = await fileOf('book-cover.epub')
    const { src } = await uploadOne(service, { name: 'a.epub', bytes })
    const known = await exchange(service, src.replace('/upload/', '/info/'))
    expect(jsonOf(known)).to.include({ format: 'epub', width: 120, height: 180, pages: 1 })
  })

  it('of an e-book is never outside of the limits of an image', async () => {
    const small = await start({ env: { IMAGE_MAX_PIXELS: '1000' } })
    const bytes = await fileOf('book-cover.epub')
    const { src } = await uploadOne(small, { name: 'a.epub', bytes })
    expect(jsonOf(await exchange(small, `${src}?w=9`))).to.include({ status: 422, code: 'not_transformable' })
  })

  itLong('of an e-book never stops the service, whatever its bytes are', async function () {
    this.timeout(sized(60_000, 1_200_000))
    const how = { name: 'a.epub', query: 'w=9', count: sized(8, 2000), spared: 60 }
    await expectSurvival(service, [await fileOf('book-cover.epub')], how)
  })

  it('is a 422 when a document has none', async () => {
    const book = await requested('a.epub', await fileOf('book-no-cover.epub'), 'thumbnail')
    expect(jsonOf(book)).to.include({ status: 422, code: 'no_cover' })
    const zip = await requested('a.zip', await fileOf('archive.zip'), 'thumbnail')
    expect(jsonOf(zip)).to.include({ status: 422, code: 'not_transformable' })
    const pdf = await requested('a.pdf', await fileOf('pdf-scan.pdf'), 'thumbnail&page=1&w=20')
    expect(pdf.status).to.equal(200)
  })

  it('is a 422 when the file has none', async () => {
    const answer = await requested('a.mp3', await sound({ format: 'mp3' }), 'thumbnail&w=60')
    expect(jsonOf(answer)).to.include({ status: 422, code: 'no_cover' })
  })
})
