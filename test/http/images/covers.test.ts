import { expect } from 'chai'
import sharp from 'sharp'
import { onOneBackend } from '../../support/backends.ts'
import { covered } from '../../support/media/covers.ts'
import { colourAt, picture } from '../../support/media/images.ts'
import { sound } from '../../support/media/videos.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'

onOneBackend('the cover', (start) => {
  let service: Service
  before(async () => {
    service = await start()
  })

  const requested = async (name: string, bytes: Buffer, query: string) =>
    exchange(service, `${(await uploadOne(service, { name, bytes })).src}?${query}`)

  for (const [format, cover] of [
    ['mp3', 'jpeg'],
    ['m4a', 'png'],
    ['flac', 'jpeg'],
  ] as const) {
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

  it('is a 422 when the file has none', async () => {
    const answer = await requested('a.mp3', await sound({ format: 'mp3' }), 'thumbnail&w=60')
    expect(jsonOf(answer)).to.include({ status: 422, code: 'no_cover' })
  })
})
