import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { type Site, startSite } from '../../client/uploader/page.ts'
import { onOneBackend } from '../../support/backends.ts'
import { type Pages, startPages } from '../../support/peers/browser-pages.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { tus } from '../../support/requests/tus.ts'
import { noise } from '../../support/stored/noise.ts'

const TUS_JS = new URL('../../node_modules/tus-js-client/dist/tus.min.js', import.meta.url)
const SEND = `globalThis.send = async ({ base64, options }) => {
  const file = await (await fetch('data:application/octet-stream;base64,' + base64)).blob()
  return new Promise((resolve, reject) => {
    const upload = new tus.Upload(file, { ...options, onError: reject, onSuccess: () => resolve(upload.url) })
    upload.start()
  })
}`

onOneBackend('resumable uploads from a page of another origin', (start) => {
  let pages: Pages
  let site: Site
  before(async () => {
    site = await startSite(`${await readFile(TUS_JS, 'utf8')}\n${SEND}`)
    site.pages.set('/', 'Photos')
    pages = await startPages()
  })
  after(async () => {
    await pages.stop()
    site.close()
  })

  it('send a file as several parts at once, as Uppy does with parallelUploads', async () => {
    const service = await start()
    const { page } = await pages.open()
    await page.goto(`${site.url}/`)
    const bytes = noise(300_000)
    const options = {
      endpoint: `${service.url}/v1/tus`,
      headers: { Authorization: service.tokens.secretClientToken },
      metadata: { filename: 'parts.bin' },
      parallelUploads: 3,
      chunkSize: 50_000,
      retryDelays: null,
    }
    // As text: the runner would add names to its functions, which the page does not have.
    const given = JSON.stringify({ base64: bytes.toString('base64'), options })
    const address = await page.evaluate<string>(`send(${given})`)
    const [record] = JSON.parse((await tus(service, new URL(address).pathname)).body.toString())
    expect(record).to.include({ originalName: 'parts.bin', size: bytes.length })
    expect((await exchange(service, record.src)).body.equals(bytes)).to.equal(true)
  })
})
