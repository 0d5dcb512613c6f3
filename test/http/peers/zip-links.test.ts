import { execFile } from 'node:child_process'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { download, startPage } from '../../support/peers/browser-pages.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { type CuttingProxy, cuttingProxy } from '../../support/servers/cutting-proxy.ts'
import type { Service } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'
import { noise } from '../../support/stored/noise.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

onOneBackend('Chromium downloads an archive', (start) => {
  let service: Service
  let proxy: CuttingProxy
  let tab: Page
  let folder: string
  let path: string
  let archive: Buffer
  let etag: string | undefined
  before(async () => {
    service = await start()
    proxy = await cuttingProxy(service.url)
    tab = await startPage()
  })
  after(async () => {
    await tab.context().close()
    await proxy.close()
  })
  beforeEach(async () => {
    folder = await temporaryFolder()
    const file = await uploadOne(service, { name: 'a.bin', bytes: noise(3_000_000) })
    const headers = { Authorization: service.tokens.secretClientToken, 'Content-Type': 'application/json' }
    const body = JSON.stringify({ files: [{ path: file.sourceName, type: file.mimeType }] })
    const link = await exchange(service, '/v1/zip/links', { method: 'POST', headers, body })
    path = new URL((jsonOf(link) as { url: string }).url).pathname
    const known = await exchange(service, path)
    archive = known.body
    etag = known.headers.etag
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  itLong('and continues by itself when the connection ends too early', async () => {
    proxy.cutNext(1_000_000, 'end')
    expect(await (await download(tab, `${proxy.url}${path}`, folder)).failure()).to.equal(null)
    // One request for the archive, and one for the rest.
    const requests = proxy.sent().split(/(?=^GET )/m)
    expect(requests.map((text) => /^range: bytes=\d+-\r$/im.test(text))).to.deep.equal([false, true])
    expect(requests[1]).to.include(`If-Range: ${etag}`)
    await eventually(() => {
      const last = service.log.lines.filter(({ message }) => message === 'request').at(-1)
      expect(last?.fields.status).to.equal(206)
    })
    expect(await readdir(folder)).to.deep.equal(['archive.zip'])
    const file = join(folder, 'archive.zip')
    expect((await readFile(file)).equals(archive), 'all bytes').to.equal(true)
    await promisify(execFile)('unzip', ['-tq', file])
  })
})
