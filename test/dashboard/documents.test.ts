import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { createClient, type FileRecord } from '../../client/index.ts'
import { onOneBackend } from '../support/backends.ts'
import { type Browser, firstOwner } from '../support/console/browser.ts'
import { eventually } from '../support/eventually.ts'
import { type Pages, startPages } from '../support/peers/browser-pages.ts'
import type { Service } from '../support/service.ts'

const CORPUS = join(import.meta.dirname, '..', 'corpus', 'files')

onOneBackend('documents and texts in the console', (start) => {
  let service: Service
  let pages: Pages
  let owner: Browser
  const files: Record<string, FileRecord> = {}
  before(async function () {
    this.timeout(120_000)
    service = await start({ env: { MEDIA_JOBS_RUN_IN: 'web' } })
    const sluice = createClient({ baseUrl: service.url, secret: service.tokens.secretClientToken })
    // This DOCX has no document that LibreOffice could read.
    for (const name of ['office.docx', 'book-cover.epub', 'text.md', 'archive.zip'])
      files[name] = await sluice.files.upload(await readFile(join(CORPUS, name)), { name })
    owner = await firstOwner(service)
    pages = await startPages()
  })
  after(() => pages.stop())
  afterEach(() => pages.closeAll())
  beforeEach(function () {
    this.timeout(120_000)
  })

  async function open(path: string) {
    const { page } = await pages.open({ viewport: { width: 1440, height: 900 } })
    const [name = '', value = ''] = owner.cookie.split('=')
    await page.context().addCookies([{ name, value, url: service.url }])
    await page.goto(`${service.url}/dashboard/c/first/${path}`)
    return page
  }
  const details = (name: string) => `files?file=${encodeURIComponent(files[name]?.s3PathOriginal ?? '')}`

  it('have pictures in the list, but Office documents and archives do not', async () => {
    const page = await open('files')
    const pictures = page.locator('img[src*="w="]')
    await eventually(async () => expect(await pictures.count()).to.equal(2), { withinMs: 30_000 })
    const requested = await pictures.evaluateAll((all: Array<{ src: string }>) =>
      all.map(({ src }) => src.replace(/^.*\.|\?.*$/g, '')),
    )
    expect(requested.sort()).to.deep.equal(['epub', 'md'])
  })

  it('show the cover of a book, and no bytes of a document that cannot be rendered', async () => {
    const book = (await open(details('book-cover.epub'))).getByRole('img', { name: 'book-cover.epub' })
    const width = () => book.evaluate((one: { naturalWidth: number }) => one.naturalWidth)
    await eventually(async () => expect(await width()).to.be.above(0), { withinMs: 30_000 })
    const page = await open(details('office.docx'))
    await page.getByText('There is no preview of DOCX files.').waitFor({ timeout: 150_000 })
    expect(await page.getByText('PK').count()).to.equal(0)
  })

  it('can be transformed in the playground, and archives cannot', async () => {
    const text = await open(`playground/${files['text.md']?.s3PathOriginal}`)
    await text.getByText('Parameters of images').waitFor()
    const archive = await open(`playground/${files['archive.zip']?.s3PathOriginal}`)
    await archive.getByText('No plugin transforms files of this type.').waitFor()
  })
})
