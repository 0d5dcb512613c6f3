import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { pluginFolder, projectFolder } from '../../support/drop-ins.ts'
import { colourAt, picture } from '../../support/media/images.ts'
import { uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { settled } from '../../support/stored/settled.ts'

const ASTRONAUT = join(import.meta.dirname, '../../pipeline/image/faces/photos/astronaut.webp')
const NOTE = 'func=auto for face: no plugin detects faces'

onOneBackend('func=face without a detector', (start) => {
  let service: Service
  let record: WireRecord
  let root: string
  before(async () => {
    root = await projectFolder({})
    const chain = JSON.stringify({ disabled: ['image-faces'] })
    await writeFile(join(root, 'config', 'chain.json'), chain)
    service = await start({ root })
    record = await uploadOne(service, { name: 'a.png', bytes: await picture() })
  })
  after(() => rm(root, { recursive: true }))

  it('renders func=auto, and states this in X-Sluice-Transform, when rendered and when stored', async () => {
    const auto = await exchange(service, `${record.src}?w=50&h=50&func=auto`)
    expect(auto.headers).to.not.have.property('x-sluice-transform')
    await settled(service)
    for (const time of ['from the store', 'again']) {
      const face = await exchange(service, `${record.src}?w=50&h=50&func=face`)
      expect(face.headers['x-sluice-transform'], time).to.equal(NOTE)
      expect(face.headers.etag).to.equal(auto.headers.etag)
      expect(face.body.equals(auto.body)).to.equal(true)
    }
    const made = await exchange(service, `${record.src}?w=60&h=60&func=face`)
    expect(made.headers['x-sluice-transform']).to.equal(NOTE)
    const { etag } = made.headers
    const unchanged = await exchange(service, `${record.src}?w=60&h=60&func=face`, {
      headers: { 'If-None-Match': String(etag) },
    })
    expect(unchanged.status).to.equal(304)
    expect(unchanged.headers['x-sluice-transform']).to.equal(NOTE)
  })

  it('exposes X-Sluice-Transform to pages of other origins', async () => {
    const { headers } = await exchange(service, `${record.src}?w=50&h=50&func=face`)
    expect(headers['access-control-expose-headers']).to.include('X-Sluice-Transform')
  })
})

onOneBackend('func=face', (start) => {
  it('keeps the face of a photo, without any configuration', async () => {
    const service = await start()
    const { src } = await uploadOne(service, { name: 'a.webp', bytes: await readFile(ASTRONAUT) })
    const { status, headers, body } = await exchange(service, `${src}?z=5&w=100&h=100&f=png&func=face`)
    expect(status).to.equal(200)
    expect(headers).to.not.have.property('x-sluice-transform')
    expect(headers.etag).to.match(/_f=png&func=face&h=100&w=100&z(oom)?=5"$/)
    // The skin of the forehead, which a crop of another part does not show there.
    const { r, g, b } = await colourAt(body, 50, 45)
    expect(r).to.be.above(g + 20)
    expect(g).to.be.above(b)
    const concealed = await exchange(service, `${src}?blur_faces&w=100`)
    expect(concealed.status).to.equal(200)
  })
})

onOneBackend('func=face with a detector of the operator', (start) => {
  let folder: string
  let service: Service
  before(async () => {
    folder = await pluginFolder({
      'faces.js': `export default { name: 'faces', engine: 'sharp', detect: (_, { source: { width, height } }) =>
        [{ left: width - 9, top: height - 9, width: 9, height: 9 }] }`,
    })
    service = await start({ env: { PLUGINS_DIR: folder } })
  })
  after(() => rm(folder, { recursive: true }))

  it('keeps the detected face, and sends no X-Sluice-Transform', async () => {
    const { src } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    const { status, headers, body } = await exchange(service, `${src}?z=4&w=50&h=50&func=face`)
    expect(status).to.equal(200)
    expect(headers).to.not.have.property('x-sluice-transform')
    expect(headers.etag).to.match(/_func=face&h=50&w=50&z(oom)?=4&~[0-9a-f]{8}"$/)
    expect(await colourAt(body, 5, 5)).to.deep.equal({ r: 0, g: 0, b: 255, a: 255 })
  })
})
