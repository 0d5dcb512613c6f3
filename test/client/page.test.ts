import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect } from 'chai'
import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import { createClient, type FileRecord } from '../../client/index.ts'
import { onOneBackend } from '../support/backends.ts'
import { picture } from '../support/media/images.ts'
import { startPage } from '../support/peers/browser-pages.ts'
import { PROJECT, type Service } from '../support/service.ts'
import { itLong } from '../support/sized.ts'

const MIB = 1024 * 1024

/** A page of another origin that has the library. */
async function servePage(): Promise<Server> {
  const { outputFiles } = await build({
    entryPoints: [join(PROJECT, 'client', 'index.ts')],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'sluice',
  })
  const script = outputFiles[0]?.text ?? ''
  const server = createServer((req, res) => {
    const isScript = req.url === '/sluice.js'
    res.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html')
    res.end(isScript ? script : '<!doctype html><script src="/sluice.js"></script>')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

onOneBackend('the client library in Chromium, in a page of another origin', (start) => {
  let tab: Page
  let page: Server
  let service: Service
  before(async () => {
    ;[tab, page, service] = await Promise.all([startPage(), servePage(), start()])
  })
  after(async () => {
    await tab.context().close()
    page.close()
  })

  const load = () => tab.goto(`http://127.0.0.1:${(page.address() as AddressInfo).port}/?${Math.random()}`)
  const newLink = async () => {
    const { links } = createClient({ baseUrl: service.url, secret: service.tokens.secretClientToken })
    return (await links.create({ expiresIn: 600, folder: 'page' })).url
  }

  it('uploads a small file with progress, and shows it with a placeholder', async () => {
    const photo = (await picture({ width: 90, height: 60 })).toString('base64')
    await load()
    const shown = await tab.evaluate(`(async () => {
      const bytes = Uint8Array.from(atob('${photo}'), (char) => char.charCodeAt(0))
      const file = new File([bytes], 'käse.png', { type: 'image/png' })
      const sent = []
      const onProgress = ({ sentBytes, totalBytes }) => sent.push(sentBytes / totalBytes)
      const record = await sluice.uploadToLink('${await newLink()}', file, { onProgress })
      const size = async (src) => {
        const img = Object.assign(new Image(), { src })
        await img.decode()
        return [img.naturalWidth, img.naturalHeight]
      }
      const info = await (await fetch(record.src.replace('/upload/', '/info/'))).json()
      return {
        name: record.originalName,
        sent: [sent[0], sent.at(-1), sent.length > 2],
        small: await size(sluice.url(record).width(30).format('auto')),
        placeholder: await size(sluice.thumbHashToDataUrl(info.thumbHash)),
      }
    })()`)
    expect(shown).to.deep.equal({
      name: 'käse.png',
      sent: [0, 1, true],
      small: [30, 20],
      placeholder: [32, 23],
    })
  })

  itLong('resumes a large file after the page was reloaded, without another link', async () => {
    const size = 4 * MIB + 100
    /** Uploads bytes, each of which is the lowest eight bits of its index. Stops at so many bytes. */
    const upload = (link: string, stopAt: number) => `(async () => {
      const bytes = new Uint8Array(${size}).map((_, i) => i)
      const file = new File([bytes], 'film.bin', { lastModified: 1700000000000 })
      const stop = new AbortController()
      const sent = []
      const uploader = sluice.createUploader({ link: () => '${link}' || Promise.reject(new Error('a second link')) })
      const record = await uploader.upload(file, {
        resumableFromBytes: 1,
        chunkBytes: ${MIB},
        signal: stop.signal,
        onProgress({ sentBytes }) {
          sent.push(sentBytes)
          if (sentBytes >= ${stopAt}) stop.abort('stopped')
        },
      }).catch((error) => error)
      return { record, sent, stored: localStorage.length }
    })()`
    await load()
    const first = await tab.evaluate(upload(await newLink(), 2 * MIB))
    expect(first).to.include({ record: 'stopped', stored: 1 })
    await load()
    const second = (await tab.evaluate(upload('', Number.MAX_SAFE_INTEGER))) as {
      record: FileRecord
      sent: number[]
      stored: number
    }
    expect(second.sent[0]).to.be.within(MIB, size - 1)
    expect(second.stored).to.equal(0)
    // XMLHttpRequest reports within a chunk as well, and never back.
    expect(second.sent).to.deep.equal([...second.sent].sort((one, other) => one - other))
    expect(second.record).to.include({ originalName: 'film.bin', size })
    const stored = Buffer.from(await (await fetch(second.record.src)).arrayBuffer())
    expect(stored.equals(Buffer.from(new Uint8Array(size).map((_, i) => i)))).to.equal(true)
  })

  it('shows why an upload was refused', async () => {
    await load()
    const refused = `sluice.uploadToLink('${await newLink()}x', new Blob(['a']))
      .catch(({ name, status, code }) => ({ name, status, code }))`
    expect(await tab.evaluate(refused)).to.deep.equal({
      ...{ name: 'SluiceError', status: 403, code: 'link_invalid' },
    })
  })
})
