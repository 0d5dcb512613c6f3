import { createHash } from 'node:crypto'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { fileIdOf, newOriginal } from '../../src/core/files/object-key.ts'
import { knownFormat } from '../../src/core/media/formats.ts'
import type { OriginalRecord } from '../../src/core/ports/file-index.ts'
import { onOneBackend } from '../support/backends.ts'
import { firstOwner } from '../support/console/browser.ts'
import { eventually } from '../support/eventually.ts'
import { type Pages, startPages } from '../support/peers/browser-pages.ts'
import { itLong } from '../support/sized.ts'
import { adoptMany } from '../support/stored/indexed-files.ts'

const FILES = 10_000
// Rows of one window, with those around it that are there before they are visible.
const ROWS_MAX = 60
const ROW_PIXELS = 48

const nameOf = (i: number) => `f${String(i).padStart(4, '0')}`

/** Files of the index alone, of a format without a picture: the list needs no bytes. */
const RECORDS = Array.from({ length: FILES }, (_, i): OriginalRecord => {
  const sha256 = createHash('sha256').update(nameOf(i)).digest('hex')
  const id = fileIdOf(Buffer.from(sha256.slice(0, 32), 'hex'))
  return {
    key: newOriginal({ folder: 'many', format: knownFormat('zip'), id }).key,
    originalName: nameOf(i),
    ...{ mediaType: 'application/zip', size: i, sha256, storedAt: 1_800_000_000_000 },
  }
})

onOneBackend(`the page Files with ${FILES} files in a folder`, (start) => {
  let pages: Pages
  let page: Page
  let errors: string[]
  let requests = 0

  before(async function () {
    this.timeout(120_000)
    const service = await start()
    const { index } = service.storage
    // The comparison of a new index with the bucket would remove files without bytes.
    await eventually(async () => expect((await index.run()).isCompared).to.equal(true))
    const [cookie] = await Promise.all([
      firstOwner(service).then((owner) => owner.cookie),
      adoptMany(index, 'first', RECORDS, { trashed: false }),
    ])
    pages = await startPages()
    ;({ page, errors } = await pages.open({ viewport: { width: 1280, height: 800 } }))
    const [name = '', value = ''] = cookie.split('=')
    await page.context().addCookies([{ name, value, url: service.url }])
    await page.addInitScript(`localStorage.setItem('sluice-files-view', 'table')`)
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/v1/files') requests += 1
    })
    await page.goto(`${service.url}/dashboard/c/first/files/many?sort=name`)
    await page.getByText(nameOf(0)).waitFor()
  })
  after(() => pages.stop())

  const rows = () => page.locator('[role=row][data-index]')
  const bar = () => page.getByRole('region', { name: 'Selection', exact: true })

  /** Waits until all rows are loaded, and compares each of them with the file of its place. */
  async function expectRows({ from, to }: { from: number; to: number }) {
    await page.getByText(nameOf(from)).waitFor()
    await page.getByText(nameOf(to)).waitFor()
    await eventually(async () => expect(await page.locator('[aria-busy=true]').count()).to.equal(0))
    const shown = (await page.evaluate(
      `[...document.querySelectorAll('[role=row][data-index]')].map((row) => [row.dataset.index, row.querySelector('button[title]').title])`,
    )) as Array<[string, string]>
    expect(shown.length).to.be.within(to - from, ROWS_MAX)
    for (const [index, name] of shown) expect(name).to.equal(nameOf(Number(index)))
  }

  it('begins with the first files, in the length of all', async () => {
    await expectRows({ from: 0, to: 10 })
    const length = Number(await page.evaluate('document.documentElement.scrollHeight'))
    expect(length).to.be.within(FILES * ROW_PIXELS, FILES * ROW_PIXELS + 1000)
    expect(await page.getByRole('grid').getAttribute('aria-rowcount')).to.equal(String(FILES + 1))
    await eventually(async () => expect(requests).to.equal(2))
  })

  it('shows the last files without loading all files before them', async () => {
    await rows().first().click()
    await page.keyboard.press('End')
    await expectRows({ from: FILES - 12, to: FILES - 1 })
    expect(await page.evaluate('document.activeElement.dataset.index')).to.equal(String(FILES - 1))
    expect(requests).to.be.at.most(4)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: nameOf(FILES - 1) }).waitFor()
    await page.getByRole('button', { name: 'Previous file' }).click()
    await page.getByRole('dialog', { name: nameOf(FILES - 2) }).waitFor()
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    await rows().last().click()
    await page.keyboard.press('Home')
    await expectRows({ from: 0, to: 10 })
    expect(requests).to.be.at.most(4)
  })

  it('loads pages on demand while it is scrolled', async () => {
    const before = requests
    await page.evaluate(`window.scrollTo(0, ${3000 * ROW_PIXELS})`)
    await expectRows({ from: 3000, to: 3010 })
    expect(requests - before).to.be.within(2, 4)
    await page.evaluate(`window.scrollTo(0, ${(FILES - 2000) * ROW_PIXELS})`)
    await expectRows({ from: FILES - 2000, to: FILES - 1990 })
    expect(requests).to.be.below(FILES / 1000)
  })

  itLong('selects the loaded files, and all files on request', async () => {
    await rows().first().click()
    await page.keyboard.press('Control+a')
    await bar()
      .getByText(/^\d,\d+ selected$/)
      .waitFor()
    await page.keyboard.press('Escape')
    await bar().waitFor({ state: 'detached' })
    await page.keyboard.press('Control+a')
    // Files that are loaded later do not change what was offered.
    await page.evaluate(`window.scrollTo(0, ${5000 * ROW_PIXELS})`)
    await expectRows({ from: 5000, to: 5010 })
    await bar().getByRole('button', { name: 'Select all 10,000' }).click()
    await bar().getByText('10,000 selected').waitFor()
    expect(await bar().getByRole('button', { name: 'Select all' }).count()).to.equal(0)
    expect(requests).to.be.below(2 + (2 * FILES) / 1000)
    for (const [action, limit] of [
      ['Tags', /at most 1,000 files/],
      ['ZIP', /at most 100 files/],
    ] as const) {
      await bar().getByRole('button', { name: action, exact: true }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText(limit).waitFor()
      expect(await dialog.getByRole('button').last().isDisabled()).to.equal(true)
      await dialog.getByRole('button', { name: 'Cancel' }).click()
    }
    await page.keyboard.press('End')
    await expectRows({ from: FILES - 12, to: FILES - 1 })
    await bar().getByRole('button', { name: 'Clear selection' }).click()
    await bar().waitFor({ state: 'detached' })
    expect(errors).to.deep.equal([])
  })
})
