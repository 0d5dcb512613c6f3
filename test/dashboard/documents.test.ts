import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { createClient, type FileRecord } from '../../client/index.ts'
import { onOneBackend } from '../support/backends.ts'
import { type Browser, firstOwner } from '../support/console/browser.ts'
import { eventually } from '../support/eventually.ts'
import { type Pages, startPages } from '../support/peers/browser-pages.ts'
import type { Service } from '../support/service.ts'
import { itLong } from '../support/sized.ts'

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
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
    for (const name of ['office.docx', 'book-cover.epub', 'book-no-cover.epub', 'text.md', 'archive.zip'])
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
    await eventually(async () => expect(await pictures.count()).to.equal(3))
    const requested = await pictures.evaluateAll((all: Array<{ src: string }>) =>
      all.map(({ src }) => src.replace(/^.*\.|\?.*$/g, '')),
    )
    expect(requested.sort()).to.deep.equal(['epub', 'epub', 'md'])
  })

  itLong('are requested once more at most when they have no picture, and then no more', async () => {
    const page = await open('jobs')
    const refused: string[] = []
    page.on('response', (response) => {
      if (response.status() === 422) refused.push(response.url())
    })
    const list = page.getByRole('link', { name: 'Files', exact: true })
    await list.click()
    await eventually(async () => expect(refused).to.have.length(2))
    await page.getByRole('link', { name: 'Jobs', exact: true }).click()
    await list.click()
    await page.getByTitle('book-cover.epub').waitFor()
    await page.getByRole('radio', { name: 'Table' }).click()
    // Longer than the second wait between two requests.
    await page.waitForTimeout(9000)
    expect(refused.map((url) => url.replace(/^.*\.|\?.*$/g, ''))).to.deep.equal(['epub', 'epub'])
  })

  itLong('show an icon in the table, where a page of text cannot be read', async () => {
    const page = await open('files')
    await page.getByRole('radio', { name: 'Table' }).click()
    const row = (name: string) => page.getByRole('row').filter({ hasText: name })
    await row('book-cover.epub').locator('img').waitFor({ state: 'attached' })
    expect(await row('text.md').locator('img').count()).to.equal(0)
    expect(await row('text.md').locator('svg').count()).to.be.above(0)
  })

  it('show the cover of a book, and why another document cannot be rendered', async () => {
    const book = (await open(details('book-cover.epub'))).getByRole('img', { name: 'book-cover.epub' })
    const width = () => book.evaluate((one: { naturalWidth: number }) => one.naturalWidth)
    await eventually(async () => expect(await width()).to.be.above(0))
    const page = await open(details('office.docx'))
    await page.getByText(/an Office document that LibreOffice can read/).waitFor({ timeout: 150_000 })
    expect(await page.getByText(/^PK/).count()).to.equal(0)
    const plain = await open(details('book-no-cover.epub'))
    await plain.getByText('This file has no cover.', { exact: true }).waitFor()
    await plain.waitForLoadState('networkidle')
    expect(await plain.getByText('This file has no cover.').count()).to.equal(1)
  })

  itLong('show that their first page is being rendered, also when LibreOffice is busy', async () => {
    const page = await open('account')
    const answers = [423, 423]
    await page.route(/wait=30/, (route) => {
      const status = answers.shift()
      return status === undefined
        ? route.fulfill({ contentType: 'image/png', body: PIXEL })
        : route.fulfill({ status, json: {} })
    })
    await page.goto(`${service.url}/dashboard/c/first/${details('office.docx')}`)
    await page.getByRole('status').filter({ hasText: 'Rendering the first page' }).waitFor()
    await page.getByRole('img', { name: 'office.docx' }).waitFor({ timeout: 30_000 })
    expect(answers).to.deep.equal([])
  })

  itLong('have no size in pixels when they are texts, and the PDF of a document is named so', async () => {
    const text = await open(details('text.md'))
    await text.getByText('text/markdown; charset=utf-8').waitFor()
    await text.waitForLoadState('networkidle')
    expect(await text.getByText('Dimensions').count()).to.equal(0)
    const office = await open(`playground/${files['office.docx']?.s3PathOriginal}`)
    await office.locator('summary').filter({ hasText: /^PDF/ }).waitFor({ timeout: 20_000 })
  })

  itLong('can be transformed in the playground, and archives cannot', async () => {
    for (const name of ['office.docx', 'book-cover.epub', 'text.md'])
      await (await open(details(name))).getByRole('button', { name: 'Open in the playground' }).waitFor()
    const choice = await open('playground')
    await choice.locator('button').filter({ hasText: 'text.md' }).locator('img').waitFor()
    const text = await open(`playground/${files['text.md']?.s3PathOriginal}`)
    await text.getByText('Parameters of images').waitFor()
    const archive = await open(`playground/${files['archive.zip']?.s3PathOriginal}`)
    await archive.getByText('No plugin transforms files of this type.').waitFor()
  })
})
