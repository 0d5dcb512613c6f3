import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import { storedKey } from '../../../../src/core/files/object-key.ts'
import { readGainMap } from '../../../../src/engines/image/gain-map/gain-map.ts'
import { headerIn } from '../../../../src/engines/image/header.ts'
import { onOneBackend } from '../../../support/backends.ts'
import { eventually } from '../../../support/eventually.ts'
import { expectSurvival } from '../../../support/media/surviving.ts'
import { NO_LIMITS } from '../../../support/no-limits.ts'
import { uploadOne } from '../../../support/requests/client.ts'
import { exchange } from '../../../support/requests/exchange.ts'
import { PROJECT, type Service } from '../../../support/service.ts'
import { everyNth, sized } from '../../../support/sized.ts'

const CLIENT = { id: 'first', token: '' }
const fileOf = (name: string) => readFile(join(PROJECT, 'test/corpus/files', name))

onOneBackend('photos with a gain map', (start) => {
  let service: Service
  before(async () => {
    service = await start({ env: { ...NO_LIMITS, PROXY_FROM_MEGAPIXELS: '1' } })
  })

  async function headroomOf(url: string): Promise<number | undefined> {
    const { status, body } = await exchange(service, url)
    expect(status, body.toString('utf8', 0, 200)).to.equal(200)
    return (await readGainMap(body, await headerIn(body)))?.gains.alternateHeadroom
  }

  it('have it in all outputs, from the pixels in memory and from the proxy', async () => {
    const bytes = await fileOf('heic-gainmap.heic')
    const { src, s3PathOriginal } = await uploadOne(service, { name: 'a.heic', bytes })
    // The first ones share the pixels.
    const first = ['w=200', 'w=300&f=avif'].map((query) => headroomOf(`${src}?${query}`))
    expect(await Promise.all(first)).to.deep.equal([2.65, 2.65])
    const key = storedKey(s3PathOriginal)
    await eventually(async () => {
      const file = await service.storage.index.look({ clientId: CLIENT.id, key })
      const stored = file?.derivatives.map((each) => `${each.key} ${each.entry.state}`)
      expect(stored).to.include(`${s3PathOriginal}_proxy stored`)
    })
    // Nothing can be rendered from the original any more: it has lost its pixels.
    const broken = Buffer.from(bytes).fill(0, bytes.indexOf('mdat') + 4)
    await service.storage.buckets.of(CLIENT).put(key, Readable.from([broken]), { mediaType: 'image/heic' })
    for (const query of ['w=210', 'w=310&f=avif', 'w=100&q=50'])
      expect(await headroomOf(`${src}?${query}`), query).to.equal(2.65)
    expect(await headroomOf(`${src}?w=220&hdr=sdr`)).to.equal(undefined)
  })

  it('survive mutated files', async () => {
    for (const [name, query, spared] of everyNth(2, [
      ['avifenc-gainmap.avif', 'w=64', 12],
      ['avifenc-gainmap.avif', 'w=64&f=jpeg', 12],
      ['jpeg-adobe-gainmap.jpg', 'w=64&f=avif', 3],
      ['jpeg-iphone-gainmap.jpg', 'w=64', 3],
      ['heic-gainmap.heic', 'w=64', 12],
    ] as const)) {
      const file = await fileOf(name)
      const count = sized(name.endsWith('heic') ? 5 : 12, 400)
      await expectSurvival(service, [file], { name, query, count, spared })
    }
  })
})
