import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { createClient, type FileRecord, type SluiceClient } from '../../client/index.ts'
import { onOneBackend } from '../support/backends.ts'
import { type Browser, firstOwner, newMember } from '../support/console/browser.ts'
import { eventually, LONG_MS } from '../support/eventually.ts'
import { photograph } from '../support/media/images.ts'
import { tone } from '../support/media/sounds.ts'
import { video } from '../support/media/videos.ts'
import { seriousFindings } from '../support/peers/axe.ts'
import { type Pages, startPages } from '../support/peers/browser-pages.ts'
import type { Service } from '../support/service.ts'
import { itLong, sized } from '../support/sized.ts'

onOneBackend('the details of a file', (start) => {
  let service: Service
  let pages: Pages
  let owner: Browser
  let sluice: SluiceClient
  before(async function () {
    this.timeout(120_000)
    service = await start({ env: { MEDIA_JOBS_RUN_IN: 'web' } })
    await service.app.clients.addUrlKey('first')
    await service.app.clients.setRules('first', { keepDeletedSeconds: 3600, privateFolders: ['private'] })
    sluice = createClient({ baseUrl: service.url, secret: service.tokens.secretClientToken })
    owner = await firstOwner(service)
    pages = await startPages()
  })
  after(() => pages.stop())
  afterEach(() => pages.closeAll())
  beforeEach(function () {
    this.timeout(120_000)
  })

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  const photo = async (name: string, options: { folder?: string } = {}) =>
    sluice.files.upload((await photograph()).bytes, { name, ...options })

  async function open(
    { s3PathOriginal }: Pick<FileRecord, 's3PathOriginal'>,
    {
      member = owner,
      folder = '',
      ...options
    }: { member?: Browser; folder?: string; width?: number; colorScheme?: 'light' | 'dark' } = {},
  ) {
    const { width = 1440, colorScheme = 'light' } = options
    const viewport = { width, height: 900 }
    const { page, errors } = await pages.open({ viewport, colorScheme })
    const [name = '', value = ''] = member.cookie.split('=')
    await page.context().addCookies([{ name, value, url: service.url }])
    await page.goto(
      `${service.url}/dashboard/c/first/files/${folder}?file=${encodeURIComponent(s3PathOriginal)}`,
    )
    await page.getByRole('tab', { name: 'About' }).waitFor()
    return { page, errors }
  }

  it('shows a picture, its record and its camera data', async () => {
    const file = await photo('sydney.jpg', { folder: 'trips/2024' })
    const { sha256 } = await sluice.files.get(file)
    const { page, errors } = await open(file)
    const panel = page.getByRole('dialog', { name: 'sydney.jpg' })
    await panel.getByText('400 × 300 px').waitFor()
    for (const text of ['image/jpeg', 'trips/2024', 'Gate 1', 'f/2.8', '1/125 s', '-33.85678', sha256])
      await panel.getByText(text).first().waitFor()
    const shown = panel.getByRole('img', { name: 'sydney.jpg' })
    await eventually(async () =>
      expect(await shown.evaluate((image: { naturalWidth: number }) => image.naturalWidth)).to.equal(400),
    )
    const widthOf = async () => (await shown.boundingBox())?.width ?? 0
    const before = await widthOf()
    await page.getByRole('group', { name: /^Picture/ }).press('+')
    await eventually(async () => expect(await widthOf()).to.be.above(1.4 * before))
    await page.keyboard.press('0')
    await eventually(async () => expect(await widthOf()).to.equal(before))
    expect(errors).to.deep.equal([])
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'hidden' })
    expect(page.url()).not.to.contain('file=')
  })

  itLong('sets the focal point by a click, and moves it by the arrow keys', async () => {
    const file = await photo('focus.jpg')
    const { page } = await open(file)
    await button(page, 'Set the focal point').click()
    const image = page.getByRole('img', { name: 'focus.jpg' })
    const { x = 0, y = 0, width = 0, height = 0 } = (await image.boundingBox()) ?? {}
    // The response arrives after the first key: the point of that key must not be lost.
    let release = () => {}
    const released = new Promise<void>((done) => {
      release = done
    })
    const isChange = (request: { method(): string }) => request.method() === 'PATCH'
    await page.route('**/v1/files/**', async (route) => {
      if (!isChange(route.request())) return route.fallback()
      const response = await route.fetch()
      await released
      return route.fulfill({ response })
    })
    await page.mouse.click(x + width / 4, y + height / 2)
    const point = async () => (await sluice.files.get(file)).focalPoint
    await eventually(async () => {
      expect((await point())?.x).to.be.closeTo(0.25, 0.01)
      expect((await point())?.y).to.be.closeTo(0.5, 0.01)
    })
    const { x: left = 0 } = (await point()) ?? {}
    await page.keyboard.press('ArrowRight')
    const answered = page.waitForResponse((response) => isChange(response.request()))
    release()
    await answered
    await page.unrouteAll({ behavior: 'wait' })
    await page.keyboard.press('ArrowRight')
    await eventually(async () => expect((await point())?.x).to.be.closeTo(left + 0.02, 0.0001))
    await page.getByRole('tab', { name: 'Edit' }).click()
    await button(page, 'Remove').click()
    await eventually(async () => expect(await point()).to.equal(undefined))
  })

  it('changes the name, the tags and the metadata', async () => {
    const file = await sluice.files.upload((await photograph()).bytes, {
      name: 'draft.jpg',
      metadata: { source: 'phone' },
    })
    const { page } = await open(file)
    await page.getByRole('tab', { name: 'Edit' }).click()
    await page.getByLabel('Name', { exact: true }).fill('final.jpg')
    await page.getByLabel('Tags').fill('summer, beach')
    await page.getByLabel('Tags').press('Enter')
    await button(page, 'Remove the tag beach').click()
    await button(page, 'Remove this entry').click()
    await button(page, 'Add an entry').click()
    await page.getByLabel('Name of the entry').fill('author')
    await page.getByLabel('Value of the entry').fill('Ada')
    await button(page, 'Save').click()
    await page.getByText('Saved', { exact: true }).waitFor()
    const { originalName, tags, metadata } = await sluice.files.get(file)
    expect({ originalName, tags, metadata }).to.deep.equal({
      originalName: 'final.jpg',
      tags: ['summer'],
      metadata: { author: 'Ada' },
    })
    await page.getByRole('dialog', { name: 'final.jpg' }).waitFor()
  })

  itLong('follows a change of the tags of selected files, and does not undo it', async () => {
    const file = await photo('bulk.jpg', { folder: 'bulk' })
    const { page } = await open(file, { folder: 'bulk' })
    await page.getByRole('tab', { name: 'Edit' }).click()
    await page.locator('[data-id]').filter({ hasText: 'bulk.jpg' }).click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Edit tags' }).click()
    const dialog = page.getByRole('dialog', { name: 'Tags of 1 file' })
    await dialog.getByLabel('Add tags').fill('summer')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await button(page, 'Remove the tag summer').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('named.jpg')
    await button(page, 'Save').click()
    await page.getByText('Saved', { exact: true }).waitFor()
    const { originalName, tags } = await sluice.files.get(file)
    expect({ originalName, tags }).to.deep.equal({ originalName: 'named.jpg', tags: ['summer'] })
  })

  it('stores a focal point that was set just before the panel is closed', async () => {
    const file = await photo('quick.jpg')
    const { page } = await open(file)
    await button(page, 'Set the focal point').click()
    await page.getByRole('img', { name: 'quick.jpg' }).waitFor()
    // In one task, so that the pause before the request has not ended.
    await page.evaluate(`{
      const image = document.querySelector('[role=dialog] img[alt="quick.jpg"]')
      const { x, y, width, height } = image.getBoundingClientRect()
      const place = { clientX: x + width / 4, clientY: y + height / 2 }
      image.dispatchEvent(new MouseEvent('click', { ...place, bubbles: true }))
      document.querySelector('[role=dialog] [aria-label=Close]').click()
    }`)
    await eventually(async () =>
      expect((await sluice.files.get(file)).focalPoint?.x).to.be.closeTo(0.25, 0.01),
    )
  })

  it('shows URLs, HTML and Markdown, and deletes derivatives', async () => {
    const file = await photo('shared.jpg')
    expect((await fetch(`${file.src}?w=100&f=webp`)).status).to.equal(200)
    const { page } = await open(file)
    await page.getByRole('tab', { name: 'Share' }).click()
    const text = (label: string) =>
      page.getByRole('region', { name: label, exact: true }).locator('pre').innerText()
    expect(await text('URL')).to.equal(file.src)
    expect(await text('Markdown')).to.equal(`![shared.jpg](${file.src})`)
    expect(await text('HTML')).to.contain(`${file.src}?w=400&amp;f=auto 400w`)
    await page.getByRole('tab', { name: 'Derivatives' }).click()
    await page.getByText('f=webp&w=100').waitFor()
    await button(page, 'Delete all').click()
    await button(page, 'Delete derivatives').click()
    await page.getByText('No derivatives yet').waitFor()
    // The list may request its thumbnail again in the meantime.
    const { derivatives } = await sluice.files.get(file)
    expect(derivatives.filter(({ key }) => key.includes('w=100'))).to.deep.equal([])
  })

  itLong('sets an alias, and restores its former file', async () => {
    const [first, second] = [await photo('first.jpg'), await photo('second.jpg')]
    await sluice.aliases.set('home/hero.jpg', first)
    const { page } = await open(second)
    await page.getByRole('tab', { name: 'Aliases' }).click()
    await page.getByLabel('Name of the alias').fill('home/hero.jpg')
    await button(page, 'Set alias').click()
    await page.getByText('Version 2').waitFor()
    expect((await sluice.aliases.get('home/hero.jpg')).file).to.equal(second.s3PathOriginal)
    await button(page, 'History').click()
    await button(page, 'Restore').click()
    await page.getByText('Delivers another file now.').waitFor()
    expect((await sluice.aliases.get('home/hero.jpg')).file).to.equal(first.s3PathOriginal)
  })

  itLong('moves a file, and deletes it with an undo', async () => {
    const file = await photo('wanderer.jpg')
    const { page } = await open(file)
    await button(page, 'More actions').click()
    await page.getByRole('menuitem', { name: 'Move…' }).click()
    const folder = page.getByLabel('Folder', { exact: true })
    expect(
      await folder.evaluate((one: { matches(selector: string): boolean }) => one.matches(':focus')),
    ).to.equal(true)
    await folder.fill('archive')
    await button(page, 'Move').click()
    const moved = `archive/${file.s3PathOriginal}`
    await eventually(() => expect(new URL(page.url()).searchParams.get('file')).to.equal(moved))
    await page.getByRole('link', { name: 'archive' }).waitFor()
    expect((await fetch(file.src, { redirect: 'manual' })).status).to.equal(308)
    await page.keyboard.press('Delete')
    const dialog = page.getByRole('dialog', { name: 'Delete wanderer.jpg?' })
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await button(page, 'Undo').click()
    await page.getByText('1 file restored').waitFor()
    expect((await sluice.files.get(moved)).originalName).to.equal('wanderer.jpg')
  })

  itLong('plays a stream with images of a storyboard, and audio with a waveform', async function () {
    this.timeout(120_000)
    const bytes = await video({ colours: ['red', 'green', 'blue'], width: 160, height: 120 })
    const { page } = await open(await sluice.files.upload(bytes, { name: 'clip.mp4' }))
    await page.getByRole('radio', { name: 'Stream' }).click()
    const player = page.locator('video')
    await eventually(
      async () =>
        expect(
          await player.evaluate(
            ({ src, duration }: { src: string; duration: number }) => src.startsWith('blob:') && duration > 2,
          ),
        ).to.equal(true),
      { withinMs: LONG_MS },
    )
    await page.getByRole('slider', { name: 'Position' }).hover()
    await page.getByTestId('storyboard-tile').waitFor()

    const sound = await open(
      await sluice.files.upload(await tone({ levels: [1, 0.2] }), { name: 'tone.wav' }),
    )
    await sound.page.getByTestId('waveform').waitFor()
    await sound.page.getByText('0:00 / 0:02').waitFor()
  })

  itLong('shows the files before and after in the list, by the arrow keys', async () => {
    const names = ['a.jpg', 'b.jpg', 'c.jpg']
    const files = []
    for (const name of names) files.push(await photo(name, { folder: 'row' }))
    const { page } = await open(files[2] as FileRecord, { folder: 'row' })
    const shown = (name: string) => page.getByRole('dialog', { name }).waitFor()
    await shown('c.jpg')
    await eventually(async () => expect(await button(page, 'Next file').isEnabled()).to.equal(true))
    expect(await button(page, 'Previous file').isEnabled()).to.equal(false)
    await page.keyboard.press('ArrowRight')
    await shown('b.jpg')
    await page.keyboard.press('ArrowRight')
    await shown('a.jpg')
    await page.keyboard.press('ArrowLeft')
    await shown('b.jpg')
  })

  it('shows a private file by signed URLs, and creates a signed link that expires', async () => {
    const file = await photo('secret.jpg', { folder: 'private' })
    const { page, errors } = await open(file)
    await page.getByText('Gate 1').waitFor()
    const image = page.getByRole('img', { name: 'secret.jpg' })
    await eventually(async () =>
      expect(await image.evaluate((one: { naturalWidth: number }) => one.naturalWidth)).to.equal(400),
    )
    await page.getByRole('tab', { name: 'Share' }).click()
    await button(page, 'Create link').click()
    const link = (
      await page
        .getByText(/[?&]exp=\d+&s=/)
        .last()
        .innerText()
    ).trim()
    expect((await fetch(link)).status).to.equal(200)
    expect((await fetch(link.replace(/\?.*/, ''))).status).to.equal(403)
    // Another signature would restart a video.
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.postData() ?? ''))
    await page.evaluate(`{
      const data = new DataTransfer()
      data.items.add(new File(['new'], 'new.txt'))
      window.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data }))
    }`)
    await page.locator('[data-id]').filter({ hasText: 'new.txt' }).waitFor()
    expect(requests.filter((body) => body.includes(file.s3PathOriginal))).to.deep.equal([])
    expect(errors).to.deep.equal([])
  })

  it('offers viewers nothing that they may not do', async () => {
    const viewer = await newMember(service, owner, {
      email: 'vi@example.com',
      role: 'viewer',
      clients: 'all',
    })
    const { page } = await open(await photo('seen.jpg'), { member: viewer })
    await button(page, 'Copy URL').waitFor()
    for (const name of ['More actions', 'Set the focal point'])
      expect(await button(page, name).count(), name).to.equal(0)
    await page.getByRole('tab', { name: 'Edit' }).click()
    expect(await page.getByLabel('Name', { exact: true }).isDisabled()).to.equal(true)
  })

  it('has no problem that axe-core finds, and no page that is too wide', async function () {
    this.timeout(120_000)
    const file = await photo('accessible.jpg')
    // Each check of a tab takes half a second.
    for (const [width, colorScheme, tabs] of [
      [390, 'light', ['About', 'Edit', ...sized([], ['Share', 'Derivatives', 'Aliases'])]],
      ...sized([], [[1440, 'dark', ['About', 'Edit']] as const]),
    ] as const) {
      const { page } = await open(file, { width, colorScheme })
      for (const tab of tabs) {
        await page.getByRole('tab', { name: tab }).click()
        await page.waitForLoadState('networkidle')
        expect(await seriousFindings(page), `${tab} at ${width} px`).to.deep.equal([])
      }
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(width)
    }
  })
})
