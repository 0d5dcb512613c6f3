import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { FileToScan, ScanContext, Verdict } from '../../../src/core/plugin-api/scanner.ts'
import { onOneBackend } from '../../support/backends.ts'
import { pluginFolder, recorded, recorder } from '../../support/drop-ins.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { entriesOf } from '../../support/requests/archive.ts'
import { ask } from '../../support/requests/ask.ts'
import { newClient, postZip, rawPath, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { uploadedByTusJs } from '../../support/requests/tus.ts'
import type { Service } from '../../support/service.ts'
import { setAlias } from '../../support/stored/aliases.ts'
import { filePath } from '../../support/stored/files.ts'
import { copiedOrMoved } from '../../support/stored/moves.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

type Scan = (file: FileToScan, context: ScanContext) => Promise<Verdict>

const SCANNER = `export default { name: 'test-scanner', scan: (...given) => globalThis.scanOfTest(...given) }\n`

onOneBackend('files with a scanner', (start) => {
  const given = globalThis as unknown as { scanOfTest?: Scan | undefined }
  let service: Service
  let plugins: string
  let events: string
  let png: Buffer
  before(async () => {
    events = join(await temporaryFolder(), 'events')
    plugins = await pluginFolder({ 'scanner.js': SCANNER, 'recorder.js': recorder(events) })
    service = await start({ env: { PLUGINS_DIR: plugins } })
    png = await picture()
  })
  beforeEach(() => {
    given.scanOfTest = async () => ({ state: 'clean' })
  })
  after(() => {
    given.scanOfTest = undefined
  })

  const upload = () => uploadOne(service, { name: 'a.png', bytes: png })
  const stored = async (key: string, of = service) => (await ask(of, filePath(key))).body as { scan?: object }
  const codeOf = async (target: string, headers = {}) => {
    const answer = await exchange(service, target, { headers })
    return answer.status === 200 ? 'delivered' : `${answer.status} ${jsonOf(answer).code}`
  }
  const eventsOf = async (key: string) =>
    (await recorded(events)).filter(({ name, event }) => event.key === key && name !== 'alias.changed')
  /** Every way in which a file is delivered. */
  const ways = async ({ src, s3PathOriginal: key }: WireRecord) => {
    const { src: other } = await ready
    const trusted = { Authorization: service.tokens.secretClientToken }
    const alias = await setAlias(service, 'an alias', key)
    const zip = entriesOf(
      Buffer.from(await (await postZip(service, { files: [{ path: key }] })).arrayBuffer()),
    ).find(({ name }) => name === '_manifest.json')
    return {
      original: await codeOf(src),
      derivative: await codeOf(`${src}?w=10`),
      information: await codeOf(src.replace('/upload/', '/info/')),
      object: await codeOf(rawPath(service, key)),
      trusted: await codeOf(src, trusted),
      overlay: await codeOf(`${other}?w=20&wm=${encodeURIComponent(key)}`),
      alias: await codeOf(alias.src),
      zip: JSON.parse(String(zip?.bytes))[0].status,
    }
  }
  let ready: Promise<WireRecord>
  before(async () => {
    given.scanOfTest = async () => ({ state: 'clean' })
    ready = upload()
    const { src } = await ready
    await eventually(async () => expect(await codeOf(src)).to.equal('delivered'))
  })

  it('are not delivered in any form before their scan, and then are', async () => {
    let end: (verdict: Verdict) => void = () => {}
    let scanned: FileToScan | undefined
    given.scanOfTest = (file) => {
      scanned = file
      return new Promise((resolve) => {
        end = resolve
      })
    }
    const record = await upload()
    const { src, s3PathOriginal: key } = record
    expect(record).to.have.deep.property('scan', { state: 'waiting' })
    const refused = Object.values(await ways(record))
    expect(new Set(refused)).to.deep.equal(new Set(['423 file_not_scanned', 'error']))
    const { headers } = await exchange(service, src)
    expect(headers).to.include({ 'retry-after': '3', 'cache-control': 'no-store' })
    await eventually(() => expect(scanned).to.include({ key, size: png.length, originalName: 'a.png' }))
    end({ state: 'clean' })
    await eventually(async () => expect((await stored(key)).scan).to.deep.equal({ state: 'clean' }))
    const delivered = Object.values(await ways(record))
    expect(new Set(delivered)).to.deep.equal(new Set(['delivered', 'ok']))
    await eventually(async () => {
      const [, { name, event } = expect.fail()] = await eventsOf(key)
      expect(name).to.equal('original.scanned')
      expect(event).to.deep.include({ scan: { state: 'clean' }, src, clientId: 'first' })
    })
  })

  it('are never delivered when they are infected, and have the signature', async () => {
    const scan = { state: 'infected', signature: 'Test.Signature' } as const
    given.scanOfTest = async () => scan
    const record = await upload()
    const { s3PathOriginal: key } = record
    await eventually(async () => expect((await stored(key)).scan).to.deep.equal(scan))
    const refused = Object.values(await ways(record))
    expect(new Set(refused)).to.deep.equal(new Set(['403 file_infected', 'error']))
    await eventually(async () => expect((await eventsOf(key))[1]?.event).to.deep.include({ scan }))
    const copy = await copiedOrMoved(service, 'copy', { from: key, to: 'copies' })
    expect(await codeOf(copy.src)).to.equal('403 file_infected')
  })

  it('remain infected when they are changed, and when they are uploaded again', async () => {
    const scan = { state: 'infected', signature: 'Test.Signature' } as const
    given.scanOfTest = async () => scan
    const client = await newClient(service)
    await service.app.clients.setRules(client.id, { dedupe: 'reuse' })
    const { src, s3PathOriginal: key } = await uploadOne(client, { name: 'a.txt', bytes: 'malware' })
    await eventually(async () => expect(await codeOf(src)).to.equal('403 file_infected'))
    given.scanOfTest = async () => ({ state: 'clean' })
    const changed = await ask(client, filePath(key), { method: 'PATCH', json: { tags: ['mine'] } })
    expect(changed.body).to.deep.include({ scan, tags: ['mine'] })
    const again = await uploadOne(client, { name: 'b.txt', bytes: 'malware' })
    expect(again).to.deep.include({ s3PathOriginal: key, scan })
    expect(await codeOf(src)).to.equal('403 file_infected')
  })

  it('are deleted when they are infected, if the scanner returns that', async () => {
    given.scanOfTest = async () => ({ state: 'infected', signature: 'Test.Signature', remove: true })
    const { src, s3PathOriginal: key } = await upload()
    await eventually(async () => expect(await codeOf(src)).to.equal('404 file_not_found'))
    await eventually(async () => {
      const names = (await eventsOf(key)).map(({ name }) => name)
      expect(names).to.deep.equal(['original.stored', 'original.scanned', 'original.deleted'])
    })
  })

  it('wait while the scanner fails or returns no verdict', async () => {
    let calls = 0
    let resume = () => {}
    const mayEnd = new Promise<void>((resolve) => {
      resume = resolve
    })
    given.scanOfTest = async () => {
      calls += 1
      if (calls === 1) throw new Error('connection refused')
      if (calls === 2) return { state: 'fine' } as never
      await mayEnd
      return { state: 'clean' }
    }
    const { src } = await upload()
    await eventually(() => expect(calls).to.equal(3))
    expect(await codeOf(src)).to.equal('423 file_not_scanned')
    resume()
    await eventually(async () => expect(await codeOf(src)).to.equal('delivered'))
    expect(calls).to.equal(3)
  })

  it('are scanned after an upload by tus, and after a copy of one that waits', async () => {
    let isHanging = false
    given.scanOfTest = (_file, { signal }) => {
      isHanging = true
      return pause(60_000, undefined as never, { signal })
    }
    const bytes = Buffer.from('a text')
    await uploadedByTusJs(bytes, {
      endpoint: `${service.url}/v1/tus`,
      headers: { Authorization: service.tokens.secretClientToken },
      metadata: { filename: 'tus.txt', path: 'tus' },
    })
    const list = async () =>
      ((await ask(service, '/v1/files?prefix=tus')).body as { files: Array<WireRecord & { scan?: object }> })
        .files
    const [file = expect.fail('expected a file')] = await list()
    expect(file.scan).to.deep.equal({ state: 'waiting' })
    await eventually(() => expect(isHanging).to.equal(true))
    const keys: string[] = []
    given.scanOfTest = async ({ key }) => {
      keys.push(key)
      return { state: 'clean' }
    }
    const copy = await copiedOrMoved(service, 'copy', { from: file.s3PathOriginal, to: 'tus/copy' })
    // A request for it would queue a lost scan again.
    await eventually(() => expect(keys).to.include(copy.s3PathOriginal))
    await eventually(async () => expect(await codeOf(copy.src)).to.equal('delivered'))
  })

  it('are scanned after a restart, also when the index and the queue are lost', async () => {
    const hanging: string[] = []
    given.scanOfTest = async ({ key }, { signal }) => {
      hanging.push(key)
      return pause(60_000, undefined as never, { signal })
    }
    const first = await start({ env: { PLUGINS_DIR: plugins } })
    const { src, s3PathOriginal: key } = await uploadOne(first, { name: 'a.png', bytes: png })
    await eventually(() => expect(hanging).to.deep.equal([key]))
    await first.stop({ keepData: true })
    const { dataDir } = first
    const second = await start({ env: { PLUGINS_DIR: plugins }, dataDir })
    await eventually(() => expect(hanging).to.have.length(2))
    await second.stop({ keepData: true })
    for (const folder of ['index', 'jobs']) await rm(join(dataDir, folder), { recursive: true })
    given.scanOfTest = async () => ({ state: 'clean' })
    const third = await start({ env: { PLUGINS_DIR: plugins }, dataDir })
    await eventually(async () =>
      expect(await stored(key, third)).to.have.deep.property('scan', { state: 'clean' }),
    )
    expect((await exchange(third, new URL(src).pathname)).status).to.equal(200)
    await third.stop()
  })
})
