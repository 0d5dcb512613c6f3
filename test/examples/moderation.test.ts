import { createHmac } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import sharp from 'sharp'
import type { ScannerPlugin } from '../../src/plugin.ts'
import { onOneBackend } from '../support/backends.ts'
import { pluginFolder } from '../support/drop-ins.ts'
import { eventually } from '../support/eventually.ts'
import { ask } from '../support/requests/ask.ts'
import { uploadOne } from '../support/requests/client.ts'
import { exchange } from '../support/requests/exchange.ts'
import { type Receiver, receiver } from '../support/requests/receiver.ts'
import { PROJECT, type Service } from '../support/service.ts'

const PLUGIN = pathToFileURL(join(PROJECT, 'examples/plugins/moderation/index.js')).href
const SECRET = `sec_${'m'.repeat(40)}`
const NOTIFY_SECRET = `whsec_${Buffer.alloc(24, 3).toString('base64')}`

// Instead of nsfwjs, whose packages take 350 MB: the test in test/long installs them. Red images are unsafe, blue ones stop the process.
const MODEL = `
export async function load() {
  return async ({ pixels, side }) => {
    if (pixels.length !== 3 * side * side) throw new Error('wrong size')
    const [red, , blue] = pixels
    if (blue > 200) for (;;) {}
    return { porn: red / 255 / 2, hentai: red / 255 / 2, neutral: 1 - red / 255 }
  }
}
`

const SCANNER = `export default { name: 'test-scanner', scan: (...given) => globalThis.scanOfModeration(...given) }\n`

const plain = (background: string) =>
  sharp({ create: { width: 40, height: 20, channels: 3, background } })
    .png()
    .toBuffer()

onOneBackend('the example plugin for moderation', (start) => {
  const given = globalThis as unknown as { scanOfModeration?: ScannerPlugin['scan'] | undefined }
  let target: Receiver
  let folder: string
  let service: Service
  beforeEach(() => {
    given.scanOfModeration = async () => ({ state: 'clean' })
  })
  before(async () => {
    target = await receiver()
    folder = await pluginFolder({ 'model.mjs': MODEL })
    const options = {
      quarantine: 'quarantine',
      notify: target.url('/hooks'),
      model: pathToFileURL(join(folder, 'model.mjs')).href,
      timeoutMs: 1000,
    }
    // The plugin reads its secrets from the environment when it is loaded.
    process.env.MODERATION_SECRETS = `other=sec_other first=${SECRET}`
    process.env.MODERATION_NOTIFY_SECRET = NOTIFY_SECRET
    const plugins = await pluginFolder({
      'scanner.js': SCANNER,
      'moderation.js': `import plugin from '${PLUGIN}'\nexport default { ...plugin, options: { ...plugin.options, ...${JSON.stringify(options)} } }\n`,
    })
    service = await start({
      env: { PLUGINS_DIR: plugins, SECRET_CLIENT_TOKEN: SECRET, CLIENT_TOKEN: 'pub_moderation_of_this_test' },
    })
  })
  after(async () => {
    delete process.env.MODERATION_SECRETS
    delete process.env.MODERATION_NOTIFY_SECRET
    given.scanOfModeration = undefined
    await target.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('notes that an image is safe, and leaves it in its place', async () => {
    const { s3PathOriginal } = await uploadOne(service, { name: 'a.png', bytes: await plain('#080') })
    await eventually(async () => {
      const { metadata, tags } = await recordOf(s3PathOriginal)
      expect(metadata).to.deep.equal({ moderation: 'safe', moderation_score: '0.000' })
      expect(tags).to.deep.equal([])
    })
  })

  it('classifies an image after its malware scan', async () => {
    const attempts: string[] = []
    given.scanOfModeration = async ({ key }) => {
      attempts.push(key)
      if (attempts.length === 1) throw new Error('the scanner is away')
      return { state: 'clean' }
    }
    const { s3PathOriginal } = await uploadOne(service, { name: 'a.png', bytes: await plain('#080') })
    await eventually(async () => {
      const { metadata } = await recordOf(s3PathOriginal)
      expect(metadata).to.include({ moderation: 'safe' })
    })
    expect(attempts).to.deep.equal([s3PathOriginal, s3PathOriginal])
  })

  it('classifies an image in a private folder', async () => {
    const { clients } = service.app
    await clients.addUrlKey('first')
    await clients.setRules('first', { privateFolders: ['a ü', 'quarantine'] })
    const file = { name: 'a.png', bytes: await plain('#080') }
    const { src, s3PathOriginal } = await uploadOne(service, file, { path: 'a ü' })
    expect((await exchange(service, src.split('?', 1)[0] as string)).status).to.equal(403)
    await eventually(async () => {
      const { metadata } = await recordOf(s3PathOriginal.split('/').map(encodeURIComponent).join('/'))
      expect(metadata).to.include({ moderation: 'safe' })
    })
  })

  it('tags an unsafe image, moves it, and notifies a receiver', async () => {
    const { sourceName, src, s3PathOriginal } = await uploadOne(service, {
      name: 'a.png',
      bytes: await plain('#f00'),
    })
    await eventually(async () => {
      const { metadata, tags } = await recordOf(`quarantine/image/png/${sourceName}`)
      expect(metadata).to.deep.equal({ moderation: 'unsafe', moderation_score: '1.000' })
      expect(tags).to.deep.equal(['unsafe'])
    })
    await eventually(async () => expect((await exchange(service, src)).status).to.equal(404))
    await eventually(() => expect(target.received).to.have.length(1))
    const [{ headers, body } = expect.fail('expected a webhook')] = target.received
    expect(JSON.parse(body.toString()))
      .to.deep.include({ type: 'moderation.unsafe' })
      .and.nested.include({ 'data.key': s3PathOriginal })
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    const key = Buffer.from(NOTIFY_SECRET.slice(6), 'base64')
    expect(headers['webhook-signature']).to.equal(
      `v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
    )
    // Its move is an upload for other plugins. It is not classified again.
    expect(target.received).to.have.length(1)
  })

  it('kills a model that hangs, and continues with the next image', async () => {
    await uploadOne(service, { name: 'a.png', bytes: await plain('#00f') })
    const { s3PathOriginal } = await uploadOne(service, { name: 'a.png', bytes: await plain('#090') })
    await eventually(async () => {
      const { metadata } = await recordOf(s3PathOriginal)
      expect(metadata).to.include({ moderation: 'safe' })
    })
  })

  async function recordOf(key: string) {
    const { status, body } = await ask(service, `/v1/files/${key}`)
    expect(status, JSON.stringify(body)).to.equal(200)
    return body as { tags: string[]; metadata: Record<string, string> }
  }
})
