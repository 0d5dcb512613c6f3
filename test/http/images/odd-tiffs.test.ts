import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { colourAt } from '../../support/media/images.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { PROJECT, type Service } from '../../support/service.ts'
import { everyNth } from '../../support/sized.ts'

onOneBackend('a TIFF of another program', (start) => {
  let service: Service
  before(async () => {
    service = await start()
  })

  // libtiff warns of all of them. With its default options sharp refuses the first one.
  for (const [what, name] of everyNth(3, [
    ['one with unsorted, repeated and wrong tags', 'tags-odd.tif'],
    ['a GeoTIFF', 'gdal-deflate.tif'],
    ['a GeoTIFF in tiles with overviews', 'gdal-cog.tif'],
    ['a GeoTIFF of five bands, of which sharp flattens none', 'gdal-five-bands.tif'],
    ['a GeoTIFF with a mask', 'gdal-mask.tif'],
    ['one with private tags', 'tags-private.tif'],
  ] as const)) {
    it(`is rendered without X-Sluice-Transform, and has info: ${what}`, async () => {
      const bytes = await readFile(join(PROJECT, 'test/corpus/files', name))
      const { src } = await uploadOne(service, { name, bytes })
      const { status, headers, body } = await exchange(service, `${src}?w=24&f=png`)
      expect(status).to.equal(200)
      expect(headers).to.not.have.property('x-sluice-transform')
      const [top, bottom] = [await colourAt(body, 12, 1), await colourAt(body, 12, 14)]
      expect(top.r - top.b, 'red at the top').to.be.above(100)
      expect(bottom.b - bottom.r, 'blue at the bottom').to.be.above(100)
      const known = await exchange(service, src.replace('/upload/', '/info/'))
      expect(known.status).to.equal(200)
      expect(jsonOf(known)).to.include({ format: 'tiff' }).and.include.keys('width', 'thumbHash')
    })
  }
})
