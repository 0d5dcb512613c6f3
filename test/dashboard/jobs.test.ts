import { rm } from 'node:fs/promises'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { onOneBackend } from '../support/backends.ts'
import { type Browser, firstOwner, newMember } from '../support/console/browser.ts'
import { eventually } from '../support/eventually.ts'
import { startWithSlowFfmpeg } from '../support/media/slow-ffmpeg.ts'
import { longFilm, sound } from '../support/media/videos.ts'
import { seriousFindings } from '../support/peers/axe.ts'
import { type Pages, startPages } from '../support/peers/browser-pages.ts'
import { uploadOne, type WireRecord } from '../support/requests/client.ts'
import { exchange } from '../support/requests/exchange.ts'
import type { Service } from '../support/service.ts'
import { itLong, sized } from '../support/sized.ts'

onOneBackend('the page Jobs', (start) => {
  let folder: string
  let service: Service
  let pages: Pages
  let owner: Browser
  let clip: WireRecord
  before(async function () {
    this.timeout(120_000)
    const options = { env: { MEDIA_CONCURRENCY: '1', MEDIA_JOBS_RUN_IN: 'web' } }
    ;({ service, folder } = await startWithSlowFfmpeg(start, 0.05, options))
    pages = await startPages()
    owner = await firstOwner(service)
    // It has no picture, so each video transformation fails.
    const mute = await uploadOne(service, { name: 'song.mp4', bytes: await sound() })
    expect((await exchange(service, `${mute.src}?w=80`)).status).to.equal(423)
    await eventually(async () => expect(await statesOf()).to.deep.equal(['failed']))
    clip = await uploadOne(service, { name: 'clip.mp4', bytes: await longFilm() })
    for (const query of ['w=40', 'w=42'])
      expect((await exchange(service, `${clip.src}?${query}`)).status).to.equal(423)
    await eventually(async () => expect(await statesOf()).to.deep.equal(['waiting', 'active', 'failed']))
  })
  after(() => pages.stop())
  afterEach(() => pages.closeAll())
  after(() => rm(folder, { recursive: true, force: true }))

  async function statesOf(): Promise<string[]> {
    const { json } = await owner.send('GET', '/v1/jobs', undefined, { 'Sluice-Client': 'first' })
    return json.jobs.map(({ state }: { state: string }) => state)
  }
  async function open({ cookie }: Browser = owner, options: Parameters<Pages['open']>[0] = {}) {
    const opened = await pages.open(options)
    const [name = '', value = ''] = cookie.split('=')
    await opened.page.context().addCookies([{ name, value, url: service.url }])
    await opened.page.goto(`${service.url}/dashboard/c/first/jobs`)
    await opened.page.getByRole('row', { name: 'song.mp4' }).waitFor()
    return opened
  }
  const row = (page: Page, name: string) => page.getByRole('row', { name })

  // A phone has it in another cell.
  const state = (page: Page, name: string, text: string) =>
    row(page, name).getByText(text, { exact: true }).filter({ visible: true })

  const screens = [['light', 1440] as const, ['dark', 390] as const]
  for (const [colorScheme, width] of screens.slice(sized(1, 0)))
    it(`is usable by screen readers, at ${width} px in ${colorScheme} colours`, async () => {
      const { page } = await open(owner, { colorScheme, viewport: { width, height: 844 } })
      expect(await seriousFindings(page)).to.deep.equal([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(width)
    })

  itLong('lets viewers read only', async () => {
    const viewer = await newMember(service, owner, {
      email: 'bob@example.com',
      role: 'viewer',
      clients: 'all',
    })
    const { page } = await open(viewer)
    await page.getByRole('button', { name: 'Actions for song.mp4' }).waitFor()
    expect(await page.getByRole('button', { name: 'Retry' }).count()).to.equal(0)
    expect(await page.getByRole('button', { name: 'Cancel job' }).count()).to.equal(0)
  })

  it('lists jobs by state, retries a failed one, and cancels others', async () => {
    const { page, errors } = await open()
    await row(page, 'song.mp4 w=80').getByText('not_transformable').waitFor()
    await row(page, 'clip.mp4 w=40').getByRole('progressbar', { name: 'Progress of clip.mp4' }).waitFor()

    await page.getByRole('radio', { name: 'Done' }).click()
    await page.getByText('No done jobs').waitFor()
    await page.getByRole('radio', { name: 'Waiting' }).click()
    await row(page, 'clip.mp4 w=42').waitFor()
    expect(await row(page, 'song.mp4').count()).to.equal(0)
    await page.getByRole('button', { name: 'Cancel job' }).click()
    await page.getByText('The job is canceled').waitFor()
    expect(await statesOf()).to.deep.equal(['active', 'failed'])

    // It waits behind the active one.
    await page.getByRole('radio', { name: 'All' }).click()
    await row(page, 'song.mp4').getByRole('button', { name: 'Retry' }).click()
    await state(page, 'song.mp4', 'Waiting').waitFor()

    // A running one loses its progress.
    await row(page, 'clip.mp4 w=40').getByRole('button', { name: 'Cancel job' }).click()
    const dialog = page.getByRole('alertdialog').or(page.getByRole('dialog'))
    await dialog.getByText('The transformation of clip.mp4 stops').waitFor()
    await dialog.getByRole('button', { name: 'Cancel job' }).click()
    await row(page, 'clip.mp4 w=40').waitFor({ state: 'detached' })
    await state(page, 'song.mp4', 'Failed').waitFor()

    await page.getByRole('button', { name: 'Actions for song.mp4' }).click()
    await page.getByRole('menuitem', { name: 'Remove from list' }).click()
    await page.getByText('No jobs yet').waitFor()
    expect(errors).to.deep.equal([])
  })
})
