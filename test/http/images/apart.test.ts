import { writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { expect } from 'chai'
import sharp from 'sharp'
import { type DropIns, dropIn, dropIns } from '../../pipeline/load/drop-ins.ts'
import { eventually, SLOWNESS } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { type Service, startService } from '../../support/service.ts'

const SVG = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><rect width="60" height="40"/></svg>',
)

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('transformations in child processes', function () {
  this.timeout(120_000)
  let files: DropIns
  let service: Service
  let path: string
  before(async () => {
    files = await dropIns({
      'pid.js': dropIn('a-pid', {
        transform: "(image, _, { log }) => log.warn({ by: process.pid }, 'made')",
      }),
      'refuse.js': dropIn('refuse', {
        transform: "() => { throw Object.assign(new Error('no'), { name: 'Other' }) }",
      }),
      'loop.js': dropIn('loop', { transform: '() => { for (;;); }' }),
      'edited.js': dropIn('edited'),
    })
    service = await startService({
      env: { PLUGINS_DIR: files.folder.path, TRANSFORM_KILL_SECONDS: String(SLOWNESS) },
    })
    path = new URL((await uploadOne(service, { name: 'a.svg', bytes: SVG })).src).pathname
  })
  after(async () => {
    await service.stop()
    await files.remove()
  })
  const answer = async (query: string, of = path) => {
    const { status, body } = await exchange(service, `${of}?${query}`)
    return { status, body: Buffer.from(body) }
  }
  const makers = (of = service) =>
    of.log.lines.flatMap(({ message, fields }) => (message === 'made' ? [Number(fields.by)] : []))

  it('are those of SVG and TIFF, and of AVIF as input or large output; others run in the main process', async () => {
    const large = { format: 'jpeg', width: 800, height: 600 } as const
    const jpeg = await uploadOne(service, { name: 'a.jpg', bytes: await picture(large) })
    const tiff = await uploadOne(service, { name: 'a.tiff', bytes: await picture({ format: 'tiff' }) })
    const avif = await uploadOne(service, { name: 'a.avif', bytes: await picture({ format: 'avif' }) })
    const by = async (src: string, query: string) => {
      expect(await answer(query, new URL(src, service.url).pathname)).to.have.property('status', 200)
      return makers().at(-1) === process.pid ? 'here' : 'elsewhere'
    }
    expect(await by(path, 'a_pid&w=20')).to.equal('elsewhere')
    expect(await by(tiff.src, 'a_pid&w=20&f=png')).to.equal('elsewhere')
    expect(await by(avif.src, 'a_pid&w=20&f=png')).to.equal('elsewhere')
    expect(await by(jpeg.src, 'a_pid&w=790&f=avif')).to.equal('elsewhere')
    expect(await by(jpeg.src, 'a_pid&w=20&f=avif')).to.equal('here')
    expect(await by(jpeg.src, 'a_pid&w=20&f=webp')).to.equal('here')
    expect(new Set(makers()), 'one after the other, in one process').to.have.property('size', 2)
  })

  it('respond with the image, and with the problems of plugins', async () => {
    const { status, body } = await answer('w=30&f=webp')
    expect(status).to.equal(200)
    expect(await sharp(body).metadata()).to.include({ format: 'webp', width: 30, height: 20 })
    const refused = await answer('w=5000&dpr=2')
    expect(refused.status).to.equal(400)
    expect(JSON.parse(String(refused.body))).to.include({ code: 'bad_parameter', param: 'dpr' })
    expect((await answer('refuse')).status).to.equal(500)
    expect(
      JSON.stringify(service.log.lines.map(({ fields }) => String((fields.err as Error)?.message))),
    ).to.include('the plugin refuse failed')
  })

  it('are killed when they take too long, also in an endless loop', async () => {
    const begun = performance.now()
    const { status, body } = await answer('loop')
    expect(status).to.equal(422)
    expect(JSON.parse(String(body)).detail).to.equal('This image takes too long to transform.')
    expect(performance.now() - begun, 'ms').to.be.at.least(950)
    expect((await answer('w=31')).status).to.equal(200)
  })

  it('are killed when the client disconnects', async () => {
    const slow = await startService({ env: { PLUGINS_DIR: files.folder.path, TRANSFORM_KILL_SECONDS: '60' } })
    try {
      const { src } = await uploadOne(slow, { name: 'a.svg', bytes: SVG })
      const request = get(`${src}?a_pid&loop`)
      request.on('error', () => {})
      await eventually(() => expect(makers(slow)).to.have.length(1))
      const [maker = 0] = makers(slow)
      expect(isAlive(maker)).to.equal(true)
      request.destroy()
      await eventually(() => expect(isAlive(maker)).to.equal(false))
    } finally {
      await slow.stop()
    }
  })

  it('are refused when a drop-in has changed since the start, and the error names it', async () => {
    const jpeg = await uploadOne(service, { name: 'a.jpg', bytes: await picture({ format: 'jpeg' }) })
    await writeFile(files.path('edited.js'), dropIn('edited', { version: '2' }))
    // The child that has loaded it before ends.
    await answer('loop&w=34')
    await eventually(async () => expect((await answer('edited&w=35')).status).to.equal(500))
    expect(
      JSON.stringify(service.log.lines.map(({ fields }) => String((fields.err as Error)?.message))),
    ).to.include('The plugin edited has changed on disk. Restart the server.')
    expect((await answer('edited&w=20', new URL(jpeg.src).pathname)).status).to.equal(200)
    expect((await answer('w=36')).status, 'without it').to.equal(200)
  })
})
