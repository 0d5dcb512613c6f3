import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import sharp from 'sharp'
import { storedKey } from '../../../../src/core/files/object-key.ts'
import { notTransformable } from '../../../../src/core/transform-problems.ts'
import { onOneBackend, stoppedAtTheEnd } from '../../../support/backends.ts'
import { pluginFolder } from '../../../support/drop-ins.ts'
import { sharpEngine } from '../../../support/media/engines.ts'
import { picture } from '../../../support/media/images.ts'
import { entriesOf } from '../../../support/requests/archive.ts'
import { postZip, uploadOne, type WireRecord } from '../../../support/requests/client.ts'
import { type Answer, exchange, jsonOf } from '../../../support/requests/exchange.ts'
import type { Remote } from '../../../support/requests/remote.ts'
import { fetchingFrom, fetchPath, fileServer } from '../../../support/requests/remote-files.ts'
import { type Service, startService } from '../../../support/service.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

/** A project folder that says what is delivered at a limit. */
async function rootWith(onLimit: 'refuse' | 'original'): Promise<string> {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'config'))
  await writeFile(join(folder, 'config', 'chain.json'), JSON.stringify({ onLimit }))
  return folder
}

onOneBackend('onLimit: original', (start) => {
  let root: string
  let service: Service
  let png: Buffer
  let record: WireRecord
  before(async () => {
    root = await rootWith('original')
    service = await start({ root, env: { OUTPUT_MAX_BYTES: '1000' } })
    png = await picture()
  })
  after(() => rm(root, { recursive: true }))
  beforeEach(async () => {
    record = await uploadOne(service, { name: 'a.png', bytes: png })
  })

  const get = (query: string, { src } = record, headers = {}): Promise<Answer> =>
    exchange(service, `${src}?${query}`, { headers })

  it('delivers the original instead of an output that is too large, cached for a minute', async () => {
    const first = await get('w=10')
    expect(first.headers).to.include({ 'cache-control': 'public, max-age=604800' })
    expect(first.headers).to.not.have.property('x-sluice-transform')
    const { status, headers, body } = await get('w=390&f=png&lossless')
    expect(status).to.equal(200)
    expect(body.equals(png)).to.equal(true)
    expect(headers).to.include({
      'cache-control': 'public, max-age=60',
      etag: `"${record.s3PathOriginal}"`,
      'content-type': 'image/png',
      'x-sluice-transform': 'original for output_too_large',
    })
    expect((await get('w=10')).headers.etag).to.equal(first.headers.etag)
  })

  it('sends Vary: Accept where the derivative would have it', async () => {
    const { headers } = await get('w=390&f=auto&lossless', record, { accept: 'image/png' })
    expect(headers).to.include({ vary: 'Accept', 'cache-control': 'public, max-age=60' })
  })

  it('delivers the original instead of an image that is too long for the format', async () => {
    const create = { width: 4, height: 16_400, channels: 3, background: '#f00' } as const
    const tall = await sharp({ create }).png().toBuffer()
    const { headers, body } = await get('f=webp', await uploadOne(service, { name: 'a.png', bytes: tall }))
    expect(headers['x-sluice-transform']).to.equal('original for format_too_small')
    expect(body.equals(tall)).to.equal(true)
  })

  it('does not apply to a broken image, or to invalid parameters', async () => {
    const bytes = Buffer.concat([png.subarray(0, 60), Buffer.alloc(500)])
    const broken = await get('w=10', await uploadOne(service, { name: 'a.png', bytes }))
    expect(broken.status).to.equal(422)
    expect(jsonOf(broken)).to.include({ code: 'not_transformable', reason: 'broken' })
    await get('w=10')
    expect((await get('w=0')).status).to.equal(400)
  })

  it('applies to archives', async () => {
    await get('w=10')
    const { sourceName: path } = record
    const answer = await postZip(service, { files: [{ path, params: { w: 390, f: 'png', lossless: true } }] })
    const [entry] = entriesOf(Buffer.from(await answer.arrayBuffer()))
    expect(entry?.bytes.equals(png)).to.equal(true)
  })
})

describe('a transformation that exceeds a limit', () => {
  const plugin = (name: string, noOriginalFallback: boolean) => `export default {
    name: 'test-${name}', engine: 'sharp', phase: 'effect', noOriginalFallback: ${noOriginalFallback},
    params: { ${name}: { type: 'flag', help: 'For this test' } },
    transform: (image) => image,
  }`
  const limited: typeof sharpEngine = {
    ...sharpEngine,
    async open() {
      throw notTransformable('past a limit of this test')
    },
  }
  const start = stoppedAtTheEnd(startService)
  const folders: string[] = []
  const servers: Remote[] = []
  after(async () => {
    for (const server of servers) await server.close()
    for (const folder of folders) await rm(folder, { recursive: true })
  })

  async function answersOf(onLimit: 'refuse' | 'original', queries: readonly string[]) {
    const root = await rootWith(onLimit)
    const PLUGINS_DIR = await pluginFolder({
      'glow.js': plugin('glow', false),
      'mosaic.js': plugin('mosaic', true),
    })
    folders.push(root, PLUGINS_DIR)
    const service = await start({ root, env: { PLUGINS_DIR }, engines: [limited] })
    const { src } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    const found: Record<string, number> = {}
    for (const query of queries) found[query] = (await exchange(service, `${src}?${query}`)).status
    return found
  }

  it('delivers the original, except for a plugin that sets noOriginalFallback', async () => {
    const answers = await answersOf('original', ['glow', 'mosaic', 'glow&mosaic'])
    expect(answers).to.deep.equal({ glow: 200, mosaic: 422, 'glow&mosaic': 422 })
  })

  it('delivers objects of other systems and remote images unmodified, too', async () => {
    const png = await picture()
    const server = await fileServer({ '/a.png': png })
    servers.push(server)
    const root = await rootWith('original')
    folders.push(root)
    const env = { ...fetchingFrom(server), FOREIGN_PREFIXES: 'old' }
    const service = await start({ root, env, engines: [limited] })
    await service.app.clients.setRules('first', { fetchHosts: 'any' })
    const bucket = service.storage.buckets.of({ id: 'first', token: '' })
    await bucket.put(storedKey('old/a.png'), Readable.from([png]), { mediaType: 'image/png' })
    const foreign = `/v1/image/foreign/${service.tokens.clientToken}/old/a.png`
    for (const path of [foreign, fetchPath(service, server.url('/a.png'))]) {
      const { headers, body } = await exchange(service, `${path}?w=10`)
      expect(headers['x-sluice-transform'], path).to.equal('original for not_transformable')
      expect(body.equals(png)).to.equal(true)
    }
  })

  it('is refused by default', async () => {
    expect(await answersOf('refuse', ['glow'])).to.deep.equal({ glow: 422 })
  })
})
