import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { onOneBackend } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { startPage } from '../../support/peers/browser-pages.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { PROJECT } from '../../support/service.ts'
import { everyNth } from '../../support/sized.ts'

const PAGE = join(PROJECT, 'docs', 'how-to', 'responsive-images.md')

onOneBackend('the HTML of docs/how-to/responsive-images.md in Chromium', (start) => {
  let tab: Page
  let server: Server
  let url: string
  before(async () => {
    const service = await start()
    // Images are not enlarged, so each derivative of this one is rendered at once.
    const { src } = await uploadOne(service, { name: 'a.png', bytes: await picture({ width: 8, height: 6 }) })
    const text = await readFile(PAGE, 'utf8')
    const wide = await picture({ width: 1000, height: 10 })
    const hinted = (await uploadOne(service, { name: 'wide.png', bytes: wide })).src
    const pages = [...text.matchAll(/```html\n([\s\S]*?)```/g)].map(([, html = '']) =>
      html
        .replaceAll('SRC', src)
        .replaceAll('https://files.example.com/…', hinted)
        .replaceAll('https://files.example.com', new URL(hinted).origin),
    )
    server = createServer((req, res) => {
      res.setHeader('Content-Type', 'text/html')
      const page = pages[['/', '/formats', '/hints'].indexOf(req.url ?? '')]
      res.end(`<!doctype html><style>body { margin: 0 }</style>${page}`)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    tab = await startPage()
  })
  after(async () => {
    await tab?.context().close()
    server?.closeAllConnections()
    server?.close()
  })

  /** The query of the image that the page has loaded. */
  async function loaded(path: string, screen: { width: number; dpr: number }) {
    const session = await tab.context().newCDPSession(tab)
    await session.send('Emulation.setDeviceMetricsOverride', {
      width: screen.width,
      height: 900,
      deviceScaleFactor: screen.dpr,
      mobile: false,
    })
    await tab.goto(`${url}${path}`)
    return tab.evaluate(`(async () => {
      const img = document.querySelector('img')
      await img.decode()
      return new URL(img.currentSrc).search
    })()`)
  }

  // From small to large: the browser prefers a larger image that it already has.
  for (const [width, dpr, expected] of everyNth(3, [
    [390, 1, '?w=400&f=auto'],
    [390, 2, '?w=800&f=auto'],
    [1440, 1, '?w=800&f=auto'],
    [1440, 2, '?w=1600&f=auto'],
  ] as const))
    it(`requests ${expected} on a page of ${width} px with ${dpr} device pixels per pixel`, async () => {
      expect(await loaded('/', { width, dpr })).to.equal(expected)
    })

  for (const [dpr, expected] of everyNth(2, [
    [1, '?w=800&f=avif'],
    [2, '?w=1600&f=avif'],
  ] as const))
    it(`requests ${expected} of a picture element with ${dpr} device pixels per pixel`, async () => {
      expect(await loaded('/formats', { width: 1440, dpr })).to.equal(expected)
    })

  for (const [width, dpr, expected] of everyNth(2, [
    [390, 1, 400],
    [390, 2, 800],
    [1440, 1, 800],
  ] as const))
    it(`gets ${expected} px by client hints on a page of ${width} px with ${dpr} device pixels per pixel`, async () => {
      expect(await loaded('/hints', { width, dpr })).to.equal('?w=auto&f=auto')
      expect(await tab.evaluate("document.querySelector('img').naturalWidth")).to.equal(expected)
    })
})
