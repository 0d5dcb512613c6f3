import { createHash } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { pluginFolder, projectFolder, recolouring, recorded, recorder } from '../../support/drop-ins.ts'
import { eventually } from '../../support/eventually.ts'
import { watchedEngine } from '../../support/media/engines.ts'
import { colourAt, picture } from '../../support/media/images.ts'
import { deleteFile, postFiles, postZip, uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'
import { askAlias, setAlias } from '../../support/stored/aliases.ts'
import { noise } from '../../support/stored/noise.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

onOneBackend('drop-in transformations', (start) => {
  const RED = { r: 200, g: 0, b: 0, a: 255 }
  const BLUE = { r: 0, g: 0, b: 200, a: 255 }
  let plugins: string
  let root: string
  let service: Service
  const watched = watchedEngine()
  before(async () => {
    plugins = await pluginFolder({ 'red.js': recolouring('image-red', 'red', '[200, 0, 0]') })
    root = await projectFolder({ 'blue.js': recolouring('image-blue', 'blue', '[0, 0, 200]') })
    service = await start({ env: { PLUGINS_DIR: plugins }, root, engines: [watched.engine] })
  })
  after(async () => {
    for (const folder of [plugins, root]) await rm(folder, { recursive: true })
  })

  it('are loaded from PLUGINS_DIR and from plugins/ without any other file', async () => {
    const record = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    for (const [query, colour] of [
      ['red', RED],
      ['blue=1', BLUE],
      ['w=20&red', RED],
    ] as const) {
      const { status, body } = await exchange(service, `${record.src}?${query}`)
      expect(status, query).to.equal(200)
      expect(await colourAt(body, 5, 5), query).to.deep.equal(colour)
    }
  })

  it('share one decode and one encode with the included ones', async () => {
    const record = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    const before = { opened: watched.opened, rendered: watched.rendered }
    const { status, headers } = await exchange(service, `${record.src}?w=30&h=20&red&blue&f=webp&q=50`)
    expect({ status, type: headers['content-type'] }).to.deep.equal({ status: 200, type: 'image/webp' })
    expect(watched.opened - before.opened).to.equal(1)
    expect(watched.rendered - before.rendered).to.equal(1)
  })

  it('get new derivatives when their source changes', async () => {
    const dataDir = await temporaryFolder()
    const folder = await pluginFolder({ 'one.js': recolouring('image-one', 'one', '[200, 0, 0]') })
    const first = await start({ dataDir, env: { PLUGINS_DIR: folder } })
    const record = await uploadOne(first, { name: 'a.png', bytes: await picture() })
    const path = record.src.slice(first.url.length)
    const red = await exchange(first, `${path}?one&w=20`)
    const plain = await exchange(first, `${path}?w=20`)
    await first.stop({ keepData: true })

    // Modules are loaded once in a process: a test can edit a plugin only under another file name.
    await rm(join(folder, 'one.js'))
    await writeFile(join(folder, 'two.js'), recolouring('image-one', 'one', '[0, 0, 200]'))
    const second = await start({ dataDir, env: { PLUGINS_DIR: folder } })
    const blue = await exchange(second, `${path}?one&w=20`)
    expect(await colourAt(red.body, 5, 5)).to.deep.equal(RED)
    expect(await colourAt(blue.body, 5, 5)).to.deep.equal(BLUE)
    expect(blue.headers.etag).not.to.equal(red.headers.etag)
    expect(red.headers.etag).to.match(/_one=1&w=20&~[0-9a-f]{8}"$/)
    // A plan without it is what it was.
    expect((await exchange(second, `${path}?w=20`)).headers.etag).to.equal(plain.headers.etag)
    expect(plain.headers.etag).to.match(/_w=20"$/)
    await rm(folder, { recursive: true })
  })

  it('are suggested like the included ones', async () => {
    const record = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    const answer = await exchange(service, `${record.src}?bleu`)
    expect(jsonOf(answer)).to.include({ code: 'unknown_parameter', nearest: 'blue' })
  })

  it('respond 500 without their message when they fail, and the service continues', async () => {
    const folder = await pluginFolder({
      'failing.js': `export default {
  name: 'image-failing', engine: 'sharp', phase: 'effect',
  params: { failing: { type: 'flag', help: 'Fails' } },
  transform() { throw new Error('inner words of the plugin') },
}`,
    })
    const other = await start({ env: { PLUGINS_DIR: folder } })
    const record = await uploadOne(other, { name: 'a.png', bytes: await picture() })
    const answer = await exchange(other, `${record.src}?failing`)
    expect({ status: answer.status, code: jsonOf(answer).code }).to.deep.equal({
      status: 500,
      code: 'internal',
    })
    expect(answer.body.toString()).not.to.include('inner words')
    expect((await exchange(other, `${record.src}?w=5`)).status).to.equal(200)
    await rm(folder, { recursive: true })
  })

  it('stop the start when one is invalid, with its file and the reason', async () => {
    const folder = await pluginFolder({
      'broken.js': 'export default { name: "broken", engine: "nonsense" }',
    })
    const outcome = await start({ env: { PLUGINS_DIR: folder } }).catch((error) => error)
    expect(outcome).to.be.an.instanceOf(Error)
    expect(outcome.message).to.include(join(folder, 'broken.js')).and.to.include('engine')
    await rm(folder, { recursive: true })
  })
})

onOneBackend('drop-in event handlers', (start) => {
  let folder: string
  let file: string
  let service: Service
  before(async () => {
    folder = await temporaryFolder()
    file = join(folder, 'events')
    await writeFile(join(folder, 'recorder.js'), recorder(file))
    await writeFile(
      join(folder, 'failing.js'),
      `export default { name: 'failing', on: { 'original.stored'() { throw new Error('not today') } } }`,
    )
    await writeFile(
      join(folder, 'slow.js'),
      `export default { name: 'slow', on: { 'original.stored': () => new Promise((done) => setTimeout(done, 3000)) } }`,
    )
    service = await start({ env: { PLUGINS_DIR: folder } })
  })
  beforeEach(() => rm(file, { force: true }))
  after(async () => {
    await rm(folder, { recursive: true })
  })

  /** The events of one name, once there are that many and some time for more has passed. */
  async function told(name: string, count: number): Promise<Array<Record<string, unknown>>> {
    await eventually(async () => expect((await named(name)).length).to.be.at.least(count))
    await pause(50)
    return named(name)
  }

  async function named(name: string) {
    return (await recorded(file)).filter((one) => one.name === name).map(({ event }) => event)
  }

  it('receive each stored original once, though another handler fails and one is slow', async () => {
    const bytes = await picture()
    const record = await uploadOne(service, { name: 'größe.png', bytes }, { path: 'a/b' })
    expect(await told('original.stored', 1)).to.deep.equal([
      {
        clientId: 'first',
        key: record.s3PathOriginal,
        originalName: 'größe.png',
        mediaType: 'image/png',
        size: bytes.length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
        src: record.src,
        format: 'png',
        folder: 'a/b',
        tags: [],
        metadata: {},
      },
    ])
    const warning = service.log.lines.find(({ level, fields }) => level === 'warn' && 'event' in fields)
    expect(warning?.fields).to.include({ event: 'original.stored', plugin: 'failing' })
  })

  it('receive no event for an upload that was refused', async () => {
    const response = await postFiles(service, [{ name: 'a.txt', bytes: 'x' }], { path: '..' })
    expect(response.status).to.equal(400)
    const { status } = await exchange(service, '/v1/upload', {
      method: 'POST',
      headers: {
        Authorization: service.tokens.secretClientToken,
        'Content-Type': 'multipart/form-data; boundary=x',
      },
      body: '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nbroken off',
    })
    expect(status).to.equal(400)
    await uploadOne(service, { name: 'b.txt', bytes: 'x' })
    expect((await told('original.stored', 1)).map(({ originalName }) => originalName)).to.deep.equal([
      'b.txt',
    ])
  })

  it('receive an event when a derivative is rendered, once', async () => {
    const record = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    await Promise.all(Array.from({ length: 10 }, () => exchange(service, `${record.src}?w=20&f=webp`)))
    const { body } = await exchange(service, `${record.src}?w=20&f=webp`)
    expect(await told('derivative.stored', 1)).to.deep.equal([
      {
        clientId: 'first',
        key: `${record.s3PathOriginal}_f=webp&w=20`,
        original: record.s3PathOriginal,
        mediaType: 'image/webp',
        size: body.length,
      },
    ])
    expect(await named('derivative.failed')).to.deep.equal([])
  })

  it('receive an event when a derivative cannot be rendered', async () => {
    const whole = await picture({ format: 'jpeg' })
    const record = await uploadOne(service, { name: 'a.jpg', bytes: whole.subarray(0, 200) })
    await exchange(service, `${record.src}?w=20`)
    const [event, ...others] = await told('derivative.failed', 1)
    expect(others).to.deep.equal([])
    expect(event).to.include({
      clientId: 'first',
      key: `${record.s3PathOriginal}_w=20`,
      original: record.s3PathOriginal,
      code: 'not_transformable',
    })
    expect(await named('derivative.stored')).to.deep.equal([])
  })

  it('receive one event for a delete, with everything that was deleted', async () => {
    const record = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    await exchange(service, `${record.src}?w=20`)
    await told('derivative.stored', 1)
    await deleteFile(service, record.s3PathOriginal)
    await deleteFile(service, record.s3PathOriginal)
    expect(await told('original.deleted', 1)).to.deep.equal([
      {
        clientId: 'first',
        key: record.s3PathOriginal,
        derivatives: [`${record.s3PathOriginal}_w=20`],
        src: record.src,
        format: 'png',
        folder: '',
        tags: [],
        metadata: {},
      },
    ])
  })

  it('receive an event for a sent archive, with its counts', async () => {
    const record = await uploadOne(service, { name: 'a.txt', bytes: 'text' })
    const response = await postZip(service, {
      archiveName: 'mine.zip',
      files: [{ path: record.sourceName, type: 'text' }, { path: 'missing.png' }],
    })
    const { byteLength } = await response.arrayBuffer()
    expect(await told('archive.sent', 1)).to.deep.equal([
      { clientId: 'first', archiveName: 'mine.zip', entries: 1, errors: 1, bytes: byteLength },
    ])
  })

  itLong('receive no event for an archive that was refused or aborted', async () => {
    await postZip(service, { files: [] })
    const large = await uploadOne(service, { name: 'a.bin', bytes: noise(10_000_000) })
    const gone = new AbortController()
    const response = await fetch(`${service.url}/v1/zip`, {
      method: 'POST',
      headers: { Authorization: service.tokens.secretClientToken, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        files: Array.from({ length: 20 }, () => ({ path: large.sourceName, type: 'application' })),
      }),
      signal: gone.signal,
    })
    gone.abort()
    await response.arrayBuffer().catch(() => {})
    await pause(300)
    expect(await named('archive.sent')).to.deep.equal([])
  })

  it('receive an event when an alias is set to a file, set to another one, and deleted', async () => {
    const [one, other] = [
      await uploadOne(service, { name: 'a.png', bytes: await picture() }),
      await uploadOne(service, { name: 'b.png', bytes: await picture() }),
    ]
    const name = 'shop/chair.png'
    const { src } = await setAlias(service, name, one.s3PathOriginal)
    // Nothing changes.
    await setAlias(service, name, one.s3PathOriginal)
    await setAlias(service, name, other.s3PathOriginal)
    await askAlias(service, name, { method: 'DELETE' })
    const event = { clientId: 'first', name, src }
    expect(await told('alias.changed', 3)).to.deep.equal([
      { ...event, key: one.s3PathOriginal },
      { ...event, key: other.s3PathOriginal, formerKey: one.s3PathOriginal },
      { ...event, formerKey: other.s3PathOriginal },
    ])
  })

  it('receive an event for a new client', async () => {
    const { client } = await service.app.clients.create()
    expect(await told('client.changed', 1)).to.deep.equal([{ clientId: client.id }])
  })
})
