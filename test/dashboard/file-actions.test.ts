import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { onOneBackend } from '../support/backends.ts'
import { firstOwner } from '../support/console/browser.ts'
import { eventually } from '../support/eventually.ts'
import { type Pages, startPages } from '../support/peers/browser-pages.ts'
import { uploadOne } from '../support/requests/client.ts'
import type { Service } from '../support/service.ts'
import { itLong } from '../support/sized.ts'
import { listAll } from '../support/stored/files.ts'

onOneBackend('copies, moves and the trash of the console', (start) => {
  let service: Service
  let pages: Pages
  let page: Page
  let errors: string[]
  const urls = new Map<string, string>()

  before(async function () {
    this.timeout(120_000)
    ;[service, pages] = await Promise.all([start(), startPages()])
    await service.app.clients.setRules('first', { keepDeletedSeconds: 3600 })
    ;({ page, errors } = await pages.open({ permissions: ['clipboard-read', 'clipboard-write'] }))
    const upload = async (name: string, path: string) => {
      const { src } = await uploadOne(service, { name, bytes: name }, { path })
      urls.set(name, src)
    }
    const [owner] = await Promise.all([
      firstOwner(service),
      ...['a.txt', 'b.txt'].map((name) => upload(name, 'texts')),
      upload('c.txt', 'texts/deep/below'),
    ])
    const [name = '', value = ''] = owner.cookie.split('=')
    await page.context().addCookies([{ name, value, url: service.url }])
  })
  after(() => pages.stop())
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]))

  async function open(path: string) {
    await page.goto(`${service.url}/dashboard/c/first/${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
  }
  const item = (name: string) => page.locator('[data-id]').filter({ hasText: name })
  /** Chooses an entry of the menu of an item. */
  async function choose(name: string, entry: string) {
    await item(name).click({ button: 'right' })
    await page.getByRole('menuitem', { name: entry }).click()
  }
  const stored = async (query: string) =>
    (await listAll(service, query)).map(({ s3PathOriginal, originalName }) => {
      const folder = s3PathOriginal.split('/').slice(0, -3).join('/')
      return `${folder}/${originalName}`
    })

  itLong('copies the URLs of the selected files', async () => {
    await open('files/texts?sort=name')
    await item('a.txt').click()
    await item('b.txt').click({ modifiers: ['Control'] })
    await choose('b.txt', 'Copy URLs')
    await page.getByText('2 URLs copied').waitFor()
    const text = await page.evaluate('navigator.clipboard.readText()')
    expect(text).to.equal(`${urls.get('a.txt')}\n${urls.get('b.txt')}`)
  })

  it('copies a file and a folder, which remain where they are', async () => {
    await open('files/texts')
    await item('a.txt').click()
    await item('deep').click({ modifiers: ['Control'] })
    await choose('a.txt', 'Copy…')
    const dialog = page.getByRole('dialog', { name: 'Copy 2 files' })
    await dialog.getByLabel('Folder', { exact: true }).fill('copies')
    await dialog.getByRole('button', { name: 'Copy', exact: true }).click()
    await page.getByText('2 files copied to copies').waitFor()
    expect(await stored('sort=name&prefix=copies')).to.deep.equal(['copies/a.txt', 'copies/deep/below/c.txt'])
    expect(await stored('sort=name&prefix=texts')).to.have.length(3)
  })

  it('moves a folder with all that is below it, redirects the former URLs, and undoes it', async () => {
    await open('files/texts')
    await choose('deep', 'Move…')
    const dialog = page.getByRole('dialog', { name: 'Move 1 file' })
    await dialog.getByLabel('Folder', { exact: true }).fill('texts/deep')
    await dialog.getByRole('button', { name: 'Move', exact: true }).click()
    await dialog.getByText('A folder cannot be moved into itself').waitFor()
    await dialog.getByLabel('Folder', { exact: true }).fill('moved')
    await dialog.getByLabel('Former URLs').click()
    await page.getByRole('option', { name: 'Redirect for 30 days' }).click()
    await dialog.getByRole('button', { name: 'Move', exact: true }).click()
    await page.getByText('1 file moved to moved').waitFor()
    await item('deep').waitFor({ state: 'detached' })
    expect(await stored('prefix=moved')).to.deep.equal(['moved/deep/below/c.txt'])
    const former = await fetch(String(urls.get('c.txt')), { redirect: 'manual' })
    expect([former.status, former.headers.get('location')?.includes('/moved/deep/below/')]).to.deep.equal([
      308,
      true,
    ])
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await item('deep').waitFor()
    expect(await stored('prefix=moved')).to.deep.equal([])
  })

  it('stops an archive when its dialog is closed', async () => {
    await open('files/texts')
    await page.route('**/v1/zip', () => {})
    await choose('a.txt', 'Download as ZIP')
    const begun = page.waitForRequest('**/v1/zip')
    await page.getByRole('dialog').getByRole('button', { name: 'Download' }).click()
    await begun
    const stopped = page.waitForEvent('requestfailed')
    await page.keyboard.press('Escape')
    expect((await stopped).url()).to.match(/zip$/)
    await page.unroute('**/v1/zip')
  })

  it('empties the trash', async () => {
    await open('files/texts')
    await item('a.txt').click()
    await page.keyboard.press('Control+a')
    await page.keyboard.press('Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('3 files deleted').waitFor()
    await open('trash')
    await page.getByRole('button', { name: 'Empty trash' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete all files of the trash permanently?' })
    // A failure needs the dialog, so it stays open until the service responds.
    let fail = () => {}
    const failed = new Promise<void>((resolve) => {
      fail = resolve
    })
    const json = { status: 500, code: 'internal', detail: 'The disk is broken.' }
    await page.route(
      /sort=key/,
      async (route) => {
        await failed
        await route.fulfill({ status: 500, json })
      },
      { times: 1 },
    )
    await dialog.getByRole('button', { name: 'Empty trash' }).click()
    await page.keyboard.press('Escape')
    expect(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled()).to.equal(true)
    fail()
    await dialog.getByRole('alert').filter({ hasText: json.detail }).waitFor()
    await eventually(() => expect(errors).to.have.length(1))
    errors.length = 0
    await dialog.getByRole('button', { name: 'Empty trash' }).click()
    await page.getByText('3 files deleted permanently').waitFor()
    await page.getByRole('heading', { name: 'The trash is empty' }).waitFor()
    expect(await stored('deleted=1')).to.deep.equal([])
    expect(await stored('prefix=copies')).to.have.length(2)
  })
})
