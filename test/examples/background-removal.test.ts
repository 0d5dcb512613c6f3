import { cp, mkdtemp, readFile, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import sharp from 'sharp'
import { render } from '../../src/testing.ts'
import { onOneBackend } from '../support/backends.ts'
import { colourAt, picture } from '../support/media/images.ts'
import { rejection } from '../support/rejection.ts'
import { uploadOne } from '../support/requests/client.ts'
import { exchange, jsonOf } from '../support/requests/exchange.ts'
import { PROJECT } from '../support/service.ts'
import { everyNth, itLong } from '../support/sized.ts'

// A copy with the packages that `npm install` brings, as its README says.
const FOLDER = await mkdtemp(join(tmpdir(), 'sluice-background-removal-'))
await cp(join(PROJECT, 'examples/plugins/background-removal'), FOLDER, { recursive: true })
await symlink(join(PROJECT, 'test/node_modules'), join(FOLDER, 'node_modules'))
const PHOTOS = join(PROJECT, 'test/pipeline/image/faces/photos')

const { default: plugin } = await import(pathToFileURL(join(FOLDER, 'index.js')).href)

/** The opacity of the pixel at these fractions of the sides, from 0 to 255. */
async function opacityAt(bytes: Buffer, x: number, y: number): Promise<number> {
  const { data, info } = await sharp(bytes).extractChannel(3).raw().toBuffer({ resolveWithObject: true })
  return data[Math.round(y * info.height) * info.width + Math.round(x * info.width)] as number
}

describe('the example plugin for background removal', () => {
  let photo: Buffer
  before(async () => {
    photo = await sharp(join(PHOTOS, 'astronaut.webp')).jpeg().toBuffer()
  })

  it('makes all but people transparent, in a PNG or a WebP', async () => {
    // In `npm test`, the service below renders a WebP.
    for (const [query, accept, mediaTypes] of everyNth(2, [
      ['rm_bg&w=200', undefined, ['image/png']],
      ['rm_bg&w=200&f=auto', 'image/webp', ['image/png', 'image/webp']],
    ] as const)) {
      const { bytes, mediaType } = await render(plugin, photo, query, accept ? { accept } : {})
      expect(mediaTypes).to.include(mediaType)
      expect(await opacityAt(bytes, 0.05, 0.1), 'behind').to.equal(0)
      expect(await opacityAt(bytes, 0.95, 0.1), 'behind').to.equal(0)
      expect(await opacityAt(bytes, 0.45, 0.25), 'face').to.equal(255)
      expect(await opacityAt(bytes, 0.4, 0.8), 'body').to.equal(255)
    }
  })

  itLong('retains JPEG when the request has a background colour', async () => {
    const { bytes, mediaType } = await render(plugin, photo, 'rm_bg&w=200&bg=00ff00')
    expect(mediaType).to.equal('image/jpeg')
    const { r, g, b } = await colourAt(bytes, 5, 5)
    expect([r, g, b].map((value) => Math.round(value / 50))).to.deep.equal([0, 5, 0])
  })

  itLong('follows the edges of the image', async () => {
    const { bytes } = await render(plugin, photo, 'rm_bg')
    const { data } = await sharp(bytes).extractChannel(3).raw().toBuffer({ resolveWithObject: true })
    const between = data.filter((value) => value > 25 && value < 230).length / data.length
    expect(between).to.be.below(0.06)
  })

  itLong('is a 422 for an image without people', async () => {
    const error = await rejection(render(plugin, await picture(), 'rm_bg'))
    expect(error).to.include({ status: 422, code: 'not_transformable' })
    expect((error as Error).message).to.include('No person was found')
  })
})

onOneBackend('a service with the example plugin for background removal', (start) => {
  it('delivers and stores the image, rendered in a child process', async () => {
    const service = await start({ env: { PLUGINS_DIR: FOLDER } })
    const bytes = await readFile(join(PHOTOS, 'astronaut.webp'))
    const { src } = await uploadOne(service, { name: 'a.webp', bytes })
    const { status, headers, body } = await exchange(service, `${src}?remove_background&w=100`)
    expect(status, body.toString('latin1', 0, 200)).to.equal(200)
    expect(headers['content-type']).to.equal('image/webp')
    expect(await opacityAt(body, 0.05, 0.1)).to.equal(0)
    const without = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    const refused = jsonOf(await exchange(service, `${without.src}?rm_bg`))
    expect(refused).to.include({ status: 422, code: 'not_transformable' })
  })
})
