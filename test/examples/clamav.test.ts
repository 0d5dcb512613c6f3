import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { expect } from 'chai'
import { checkScanner } from '../../src/assembly/doctor/scanner.ts'
import type { ScannerPlugin } from '../../src/core/plugin-api/scanner.ts'
import { onOneBackend } from '../support/backends.ts'
import { pluginFolder } from '../support/drop-ins.ts'
import { eventually } from '../support/eventually.ts'
import { type Clamd, createClamd, EICAR, SIGNATURE } from '../support/peers/clamd.ts'
import { ask } from '../support/requests/ask.ts'
import { uploadOne } from '../support/requests/client.ts'
import { exchange } from '../support/requests/exchange.ts'
import { type Receiver, receiver } from '../support/requests/receiver.ts'
import { PROJECT, type Service } from '../support/service.ts'
import { filePath } from '../support/stored/files.ts'

const PLUGIN = pathToFileURL(join(PROJECT, 'examples/plugins/clamav/index.js')).href

onOneBackend('the example plugin for ClamAV', (start) => {
  let clamd: Clamd
  let hooks: Receiver
  let service: Service
  let plugin: ScannerPlugin
  let options: Record<string, unknown>
  before(async () => {
    clamd = await createClamd()
    await clamd.start()
    hooks = await receiver()
    plugin = (await import(PLUGIN)).default
    options = { ...plugin.options, address: clamd.address, maxBytes: 100_000 }
    const own = `import plugin from '${PLUGIN}'\nexport default { ...plugin, options: ${JSON.stringify(options)} }\n`
    service = await start({
      env: {
        PLUGINS_DIR: await pluginFolder({ 'clamav.js': own }),
        WEBHOOK_URL: hooks.url('/hooks'),
        WEBHOOK_SECRET: `whsec_${Buffer.alloc(24, 3).toString('base64')}`,
        WEBHOOK_ALLOW_ADDRESSES: '127.0.0.0/8',
        WEBHOOK_EVENTS: 'original.scanned',
      },
    })
  })
  after(async () => {
    await clamd.remove()
    await hooks.close()
  })

  const upload = (bytes: Uint8Array) => uploadOne(service, { name: 'a.bin', bytes })
  const scanOf = async (key: string) => ((await ask(service, filePath(key))).body as { scan?: object }).scan
  const check = () => checkScanner({ plugin, options })

  it('finds a file clean, which is then delivered', async () => {
    const bytes = Buffer.alloc(90_000, 'not malware ')
    const { src } = await upload(bytes)
    await eventually(async () => expect((await exchange(service, src)).body.equals(bytes)).to.equal(true))
  })

  it('finds malware: the file is not delivered, and a webhook has the name', async () => {
    const { src, s3PathOriginal: key } = await upload(EICAR)
    const scan = { state: 'infected', signature: SIGNATURE }
    await eventually(async () => expect(await scanOf(key)).to.deep.equal(scan))
    expect((await exchange(service, src)).status).to.equal(403)
    await eventually(() => {
      const bodies = hooks.received.map(({ body }) => JSON.parse(String(body)))
      const [body] = bodies.filter(({ data }) => data.key === key)
      expect(body?.type).to.equal('original.scanned')
      expect(body.data.scan).to.deep.equal(scan)
    })
  })

  it('refuses a file that is larger than its limit', async () => {
    const { s3PathOriginal: key } = await upload(Buffer.alloc(100_001, 'x'))
    const scan = { state: 'infected', signature: 'TooLargeToScan' }
    await eventually(async () => expect(await scanOf(key)).to.deep.equal(scan))
  })

  it('scans files that have waited for clamd', async () => {
    expect(await check()).to.deep.equal([{ state: 'ok', found: 'clamav responds' }])
    await clamd.stop()
    const { src, s3PathOriginal: key } = await upload(EICAR)
    await eventually(() =>
      expect(inspect(service.log.lines, { depth: 4 })).to.include('the scanner clamav failed: connect'),
    )
    expect((await exchange(service, src)).status).to.equal(423)
    expect(await check()).to.have.nested.property('[0].state', 'problem')
    await clamd.start()
    await eventually(async () => expect(await scanOf(key)).to.have.property('state', 'infected'))
  })
})
