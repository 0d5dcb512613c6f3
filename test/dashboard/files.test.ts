import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { onOneBackend } from '../support/backends.ts'
import { firstOwner } from '../support/console/browser.ts'
import { eventually } from '../support/eventually.ts'
import { picture } from '../support/media/images.ts'
import { video } from '../support/media/videos.ts'
import { seriousFindings } from '../support/peers/axe.ts'
import { type Pages, startPages } from '../support/peers/browser-pages.ts'
import { entriesOf } from '../support/requests/archive.ts'
import { uploadOne } from '../support/requests/client.ts'
import type { Service } from '../support/service.ts'
import { itLong, sized } from '../support/sized.ts'
import { listAll } from '../support/stored/files.ts'

onOneBackend('the pages Files and Trash', (start) => {
  let service: Service
  let pages: Pages
  // One page for all tests: a new one would load the code of the console again.
  let page: Page
  let errors: string[]
  before(async function () {
    this.timeout(120_000)
    ;[service, pages] = await Promise.all([start(), startPages()])
    await service.app.clients.setRules('first', { keepDeletedSeconds: 3600 })
    ;({ page, errors } = await pages.open())
    const png = await picture()
    // One after the other: the newest is the first one in the list.
    for (const name of ['sun.png', 'moon.png'])
      await uploadOne(service, { name, bytes: png }, { path: 'photos/2026' })
    const [owner] = await Promise.all([
      firstOwner(service),
      uploadOne(service, { name: 'a.txt', bytes: 'aaa' }),
      uploadOne(service, { name: 'b.txt', bytes: 'b' }),
      uploadOne(service, { name: 'c.txt', bytes: 'cc' }),
    ])
    const [name = '', value = ''] = owner.cookie.split('=')
    await page.context().addCookies([{ name, value, url: service.url }])
  })
  after(() => pages.stop())
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]))

  /** Opens a page of the client, files as a grid. */
  async function open(path: string) {
    if (page.url().startsWith(service.url))
      await page.evaluate(`localStorage.removeItem('sluice-files-view')`)
    await page.goto(`${service.url}/dashboard/c/first/${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
  }
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const item = (name: string) => page.locator('[data-id]').filter({ hasText: name })
  const bar = () => page.getByRole('region', { name: 'Selection', exact: true })
  const namesOf = async () =>
    (await page.locator('[data-id] button[title]').allInnerTexts()).map((name) => name.trim())
  const stored = async (query: string) =>
    (await listAll(service, query)).map((file) => file.originalName).sort()

  it('shows folders, and opens them to their thumbnails by keys', async () => {
    await open('files')
    await item('photos').click()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'photos', level: 1 }).waitFor()
    await item('2026').dblclick()
    await page.locator('[data-id] img.opacity-100').nth(1).waitFor()
    const source = await page.locator('[data-id] img').first().getAttribute('src')
    expect(source).to.match(/\?w=320&f=auto$/)
    await page.getByRole('navigation', { name: 'Folders' }).getByRole('link', { name: 'Files' }).click()
    await page.getByRole('heading', { name: 'Files', level: 1 }).waitFor()
  })

  itLong('sorts, searches and filters, in the URL too', async () => {
    await open('files')
    await item('c.txt').waitFor()
    await page.keyboard.press('v')
    await page.getByRole('columnheader', { name: 'Size' }).getByRole('button').click()
    await page.waitForURL(/sort=-size/)
    await item('a.txt').waitFor()
    expect((await namesOf()).slice(-3)).to.deep.equal(['a.txt', 'c.txt', 'b.txt'])
    await page.keyboard.press('/')
    await page.keyboard.type('SUN')
    await page.waitForURL(/q=SUN/)
    await item('sun.png').waitFor()
    expect(await namesOf()).to.deep.equal(['sun.png'])
    await page.goto(`${service.url}/dashboard/c/first/files?type=image&from=2020-01-01&to=2020-01-02`)
    await page.getByRole('heading', { name: 'No file matches' }).waitFor()
    await button('Remove the filter From Jan 1, 2020').click()
    await button('Remove the filter Until Jan 2, 2020').click()
    await item('moon.png').waitFor()
    expect((await namesOf()).sort()).to.deep.equal(['moon.png', 'sun.png'])
  })

  itLong('selects by mouse and keys, moves into a new folder, and undoes it', async () => {
    await open('files?sort=name')
    await page.keyboard.press('v')
    await item('a.txt').getByRole('checkbox').click()
    await item('c.txt')
      .locator('[role=gridcell]')
      .nth(2)
      .click({ modifiers: ['Shift'] })
    await bar().getByText('3 selected').waitFor()
    await item('b.txt')
      .locator('[role=gridcell]')
      .nth(2)
      .click({ modifiers: ['Control'] })
    await bar().getByText('2 selected').waitFor()
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Space')
    await bar().getByText('1 selected').waitFor()
    await page.keyboard.press('Shift+ArrowDown')
    await bar().getByText('2 selected').waitFor()
    await bar().getByRole('button', { name: 'Move' }).click()
    const dialog = page.getByRole('dialog', { name: 'Move 2 files' })
    await dialog.getByLabel('Folder', { exact: true }).fill('new/place')
    await dialog.getByRole('button', { name: 'Move', exact: true }).click()
    await page.getByText('2 files moved to new/place').waitFor()
    expect(await stored('prefix=new/place')).to.deep.equal(['a.txt', 'b.txt'])
    await button('Undo').click()
    await item('a.txt').waitFor()
    expect(await stored('prefix=new')).to.deep.equal([])
  })

  itLong('tags files, and downloads them as a ZIP archive with names and a transformation', async () => {
    await open('files/photos/2026')
    await item('sun.png').click()
    await page.keyboard.press('Control+a')
    await bar().getByRole('button', { name: 'Tags' }).click()
    await page.getByLabel('Add tags').fill('sky, night')
    await button('Save').click()
    await page.getByText('Tags of 2 files changed').waitFor()
    expect(await stored('tag=night')).to.deep.equal(['moon.png', 'sun.png'])
    await item('sun.png').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Download as ZIP' }).click()
    const dialog = page.getByRole('dialog', { name: 'Download 2 files' })
    await dialog.getByRole('combobox', { name: 'Names in the archive' }).click()
    await page.getByRole('option', { name: 'Numbered' }).click()
    await dialog.getByRole('radio', { name: 'Transformed' }).click()
    await dialog.getByRole('combobox', { name: 'Format' }).click()
    await page.getByRole('option', { name: 'WebP' }).click()
    const download = page.waitForEvent('download')
    await dialog.getByRole('button', { name: 'Download as ZIP' }).click()
    const chunks: Buffer[] = []
    for await (const chunk of await (await download).createReadStream()) chunks.push(chunk as Buffer)
    const entries = entriesOf(Buffer.concat(chunks))
    expect(entries.map(({ name }) => name)).to.include.members(['001 moon.webp', '002 sun.webp'])
  })

  it('deletes, undoes, restores from the trash, and deletes permanently', async () => {
    await open('files')
    await item('b.txt').click()
    await page.keyboard.press('Delete')
    await page.getByRole('dialog', { name: 'Delete b.txt?' }).getByRole('button', { name: 'Delete' }).click()
    await page.getByText('1 file deleted').waitFor()
    await item('b.txt').waitFor({ state: 'detached' })
    await button('Undo').click()
    await item('b.txt').click()
    await page.keyboard.press('Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await item('b.txt').waitFor({ state: 'detached' })
    await page.goto(`${service.url}/dashboard/c/first/trash`)
    await button('Restore b.txt').click()
    await page.getByRole('heading', { name: 'The trash is empty' }).waitFor()
    expect(await stored('search=b.txt')).to.deep.equal(['b.txt'])
    await page.goto(`${service.url}/dashboard/c/first/files`)
    await item('b.txt').click()
    await page.keyboard.press('Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await item('b.txt').waitFor({ state: 'detached' })
    await page.goto(`${service.url}/dashboard/c/first/trash`)
    await page.getByRole('checkbox', { name: 'Select b.txt' }).click()
    await button('Delete permanently').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete permanently' }).click()
    await page.getByText('1 file deleted permanently').waitFor()
    expect(await stored('deleted')).to.deep.equal([])
  })

  itLong('asks again for the picture of a video whose job has not ended', async () => {
    const bytes = await video({ colours: ['red'], width: 64, height: 48 })
    await uploadOne(service, { name: 'clip.mp4', bytes }, { path: 'videos' })
    const answers = [423]
    await page.route(/thumbnail=1/, (route) => {
      const status = answers.shift()
      return status === undefined ? route.continue() : route.fulfill({ status })
    })
    await open('files/videos')
    const shown = item('clip.mp4').locator('img')
    const width = () => shown.evaluate((one: { naturalWidth: number }) => one.naturalWidth)
    await eventually(async () => expect(await width()).to.be.above(0))
    await page.unroute(/thumbnail=1/)
    expect(errors.splice(0).filter((error) => !error.includes('423'))).to.deep.equal([])
  })

  it('creates a folder, which invites to upload', async () => {
    await open('files')
    await button('New folder').click()
    await page.getByLabel('Name', { exact: true }).fill('a/b')
    await button('Create').click()
    await page.getByRole('alert').getByText('A name has no slash').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('later')
    await button('Create').click()
    await page.getByRole('heading', { name: 'This folder is empty' }).waitFor()
    expect(new URL(page.url()).pathname).to.equal('/dashboard/c/first/files/later')
    await button('Choose files').waitFor()
  })

  const screens = [['light', 1440] as const, ['dark', 390] as const]
  for (const [colorScheme, width] of screens.slice(sized(1, 0)))
    it(`is usable by screen readers, at ${width} px in ${colorScheme} colours`, async () => {
      await page.setViewportSize({ width, height: 844 })
      await page.emulateMedia({ colorScheme })
      await open('files')
      await item('a.txt').click()
      await bar().waitFor()
      await page.waitForTimeout(300)
      expect(await seriousFindings(page), 'grid').to.deep.equal([])
      await page.keyboard.press('v')
      await page.getByRole('columnheader', { name: 'Name' }).waitFor()
      expect(await seriousFindings(page), 'table').to.deep.equal([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(width)
      // Another page costs a second of CPU time.
      if (sized(true, false)) return
      await page.goto(`${service.url}/dashboard/c/first/trash`)
      await page.getByRole('heading', { name: 'The trash is empty' }).waitFor()
      expect(await seriousFindings(page), 'trash').to.deep.equal([])
    })
})
