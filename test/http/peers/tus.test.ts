import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect } from 'chai'
import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import { type HttpRequest, Upload } from 'tus-js-client'
import { onOneBackend, onOneOrTwoBackends } from '../../support/backends.ts'
import { startPage } from '../../support/peers/browser-pages.ts'
import type { WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { tus } from '../../support/requests/tus.ts'
import { PROJECT, type Service } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'
import { noise } from '../../support/stored/noise.ts'

const MIB = 1024 ** 2

onOneOrTwoBackends('tus-js-client', (start) => {
  it('resumes an interrupted upload, and reads the record', async () => {
    const service = await start()
    const bytes = noise(20 * MIB)
    const offsets: string[] = []
    const options = {
      endpoint: `${service.url}/v1/tus`,
      headers: { Authorization: service.tokens.secretClientToken },
      metadata: { filename: 'a file.bin', folder: 'from/node' },
      retryDelays: [0, 100, 500],
      onBeforeRequest(request: HttpRequest) {
        if (request.getMethod() === 'PATCH') offsets.push(request.getHeader('Upload-Offset') ?? '')
      },
    }
    // Its second piece is never sent, so that it is broken off however late the progress is reported.
    const address = await new Promise<string>((resolve, reject) => {
      const upload = new Upload(bytes, {
        ...options,
        chunkSize: 15 * MIB,
        onBeforeRequest(request) {
          const offset = request.getHeader('Upload-Offset')
          if (offset !== undefined && offset !== '0') return new Promise(() => {})
          return options.onBeforeRequest(request)
        },
        onError: reject,
        onProgress(sent) {
          if (sent < 10 * MIB) return
          void upload.abort().then(() => resolve(upload.url ?? ''))
        },
      })
      upload.start()
    })
    const record = await new Promise<WireRecord>((resolve, reject) => {
      const upload = new Upload(bytes, {
        ...options,
        uploadUrl: address,
        onError: reject,
        onSuccess({ lastResponse }) {
          const [first] = JSON.parse(lastResponse.getHeader('Upload-Record') ?? '[]')
          resolve(first)
        },
      })
      upload.start()
    })
    expect(offsets).to.have.lengthOf(2)
    expect(Number(offsets[1])).to.be.within(1, bytes.length - 1)
    expect(record.originalName).to.equal('a file.bin')
    expect(record.s3PathOriginal).to.match(/^from\/node\//)
    expect(jsonOf(await tus(service, address))).to.deep.equal([record])
    expect((await exchange(service, record.src)).body.equals(bytes)).to.equal(true)
  })
})

/** A page of another origin that has Uppy. */
async function servePage(): Promise<Server> {
  const { outputFiles } = await build({
    stdin: {
      contents: `import Uppy from '@uppy/core'; import Tus from '@uppy/tus'; Object.assign(window, { Uppy, Tus })`,
      resolveDir: join(PROJECT, 'test'),
    },
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    target: 'chrome100',
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  const script = Buffer.from(outputFiles[0]?.contents ?? [])
  const server = createServer((req, res) => {
    const isScript = req.url === '/uppy.js'
    res.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html')
    res.end(isScript ? script : '<!doctype html><script src="/uppy.js"></script>')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return server
}

/**
 * Uploads a file of so many bytes, each of which is its place's last eight bits, by Uppy. Stops at `stopAt` bytes, or tells
 * the offsets that were sent from, and the record.
 */
const upload = (
  { url, tokens }: Service,
  { size, stopAt = null }: { size: number; stopAt?: number | null },
) =>
  `(async () => {
  const offsets = []
  const bytes = new Uint8Array(${size}).map((_, i) => i)
  const uppy = new Uppy({ autoProceed: false }).use(Tus, {
    endpoint: '${url}/v1/tus',
    headers: { Authorization: '${tokens.secretClientToken}' },
    chunkSize: ${MIB},
    retryDelays: [0, 500],
    onBeforeRequest(request) {
      if (request.getMethod() === 'PATCH') offsets.push(Number(request.getHeader('Upload-Offset')))
    },
  })
  const stopped = new Promise((stop) => {
    uppy.on('upload-progress', (file, { bytesUploaded }) => {
      if (${stopAt} === null || bytesUploaded < ${stopAt}) return
      uppy.pauseAll()
      stop('stopped')
    })
  })
  let record
  // Uppy aborts the request afterwards, and its headers are lost.
  uppy.on('upload-success', (_, { body }) => {
    record = JSON.parse(body.xhr.getResponseHeader('Upload-Record'))[0]
  })
  const data = new File([bytes], 'käse.bin', { type: 'image/png', lastModified: 1700000000000 })
  uppy.addFile({ name: data.name, type: data.type, data, meta: { folder: 'from/page' } })
  const ended = uppy.upload().then(({ successful, failed }) => {
    const [file] = successful
    if (!file) throw new Error(String(failed[0]?.error))
    return { offsets, record, address: file.response.uploadURL }
  })
  return Promise.race([stopped, ended])
})()`

onOneBackend('Uppy in Chromium, in a page of another origin', (start) => {
  let tab: Page
  let page: Server
  before(async () => {
    ;[tab, page] = await Promise.all([startPage(), servePage()])
  })
  after(async () => {
    await tab.context().close()
    page.close()
  })

  async function load(): Promise<void> {
    const { port } = page.address() as AddressInfo
    await tab.goto(`http://127.0.0.1:${port}/?${Math.random()}`)
    expect(await tab.evaluate('typeof Tus')).to.equal('function')
  }

  itLong('uploads in chunks, resumes after the page was reloaded, and reads the record', async function () {
    this.timeout(120_000)
    const size = 6 * MIB + 100
    const service = await start()
    await load()
    expect(await tab.evaluate(upload(service, { size, stopAt: 2 * MIB }))).to.equal('stopped')
    await load()
    const { offsets, record, address } = (await tab.evaluate(upload(service, { size }))) as {
      offsets: number[]
      record: WireRecord
      address: string
    }
    expect(offsets[0]).to.be.within(MIB, size - 1)
    expect(record).to.include({ originalName: 'käse.bin', size, mimeType: 'application', format: 'bin' })
    expect(record.s3PathOriginal).to.match(/^from\/page\/application\/bin\//)
    expect(jsonOf(await tus(service, address))).to.deep.equal([record])
    const expected = Buffer.from(new Uint8Array(size).map((_, i) => i))
    expect((await exchange(service, record.src)).body.equals(expected)).to.equal(true)
  })

  itLong('shows the page why the upload was refused', async () => {
    const service = await start({ env: { UPLOAD_MAX_BYTES: '100' } })
    await load()
    const error = await tab.evaluate(upload(service, { size: 200 })).catch((thrown: Error) => thrown)
    expect(String(error)).to.include('413').and.include('too_large')
  })
})
