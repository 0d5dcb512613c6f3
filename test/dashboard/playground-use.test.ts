import { rm } from 'node:fs/promises'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { createClient, type FileRecord, type SluiceClient } from '../../client/index.ts'
import { createPrograms } from '../../src/engines/ffmpeg/installed.ts'
import { onOneBackend } from '../support/backends.ts'
import { type Browser, firstOwner, newMember } from '../support/console/browser.ts'
import {
  button,
  chosen,
  fact,
  field,
  openPlayground,
  rendered,
  snippet,
  view,
  visit,
} from '../support/console/playground.ts'
import { eventually } from '../support/eventually.ts'
import { picture } from '../support/media/images.ts'
import { slowFfmpeg } from '../support/media/slow-ffmpeg.ts'
import { video } from '../support/media/videos.ts'
import { seriousFindings } from '../support/peers/axe.ts'
import { type Pages, startPages } from '../support/peers/browser-pages.ts'
import type { Service } from '../support/service.ts'
import { itLong, sized } from '../support/sized.ts'

// The encoder looks ahead 40 frames, so that a short film has no progress before its end.
const SLOW = { rate: 25, colours: ['red', 'green', 'blue', 'red', 'green', 'blue', 'red', 'green'] }

onOneBackend('the page Playground: snippets, presets and videos', (start) => {
  let folder: string
  let service: Service
  let pages: Pages
  let owner: Browser
  let page: Page
  let sluice: SluiceClient
  let photo: FileRecord
  let clip: FileRecord
  before(async function () {
    this.timeout(120_000)
    const slow = await slowFfmpeg(2)
    folder = slow.folder
    service = await start({ programs: createPrograms({ PATH: slow.PATH }) })
    sluice = createClient({ baseUrl: service.url, secret: service.tokens.secretClientToken })
    photo = await sluice.files.upload(await picture(), { name: 'photo.png' })
    if (sized(false, true)) {
      clip = await sluice.files.upload(await video({ ...SLOW, width: 320, height: 240 }), {
        name: 'clip.mp4',
      })
      // Its job runs while the other tests do.
      expect((await fetch(`${clip.src}?hls`)).status).to.equal(423)
    }
    owner = await firstOwner(service)
    pages = await startPages()
    ;({ page } = await openPlayground({ pages, service, member: owner }, { file: photo }))
  })
  after(() => pages.stop())
  after(() => rm(folder, { recursive: true, force: true }))
  async function open(file: FileRecord, query = ''): Promise<void> {
    await visit(page, { service, file, query })
  }

  const ownPresets = async () =>
    (await sluice.presets.list()).flatMap(({ name, from }) => (from === 'client' ? [name] : []))

  itLong('is used by keys alone', async () => {
    await open(photo)
    await page.getByRole('searchbox', { name: 'Search parameters' }).focus()
    await page.keyboard.type('greyscale')
    await eventually(async () => expect(await page.locator('summary').count()).to.equal(1))
    for (const key of ['Tab', 'Tab', 'ArrowRight']) await page.keyboard.press(key)
    // The focus moves a moment after the key.
    await eventually(async () =>
      expect(await page.evaluate('document.activeElement.textContent')).to.equal('On'),
    )
    await page.keyboard.press('Space')
    await eventually(async () => expect(await chosen(page)).to.deep.equal(['greyscale=1']))
    await page.getByRole('searchbox', { name: 'Search parameters' }).fill('resize')
    await page.getByRole('slider', { name: 'w', exact: true }).focus()
    for (const key of ['End', 'ArrowLeft', 'Home', 'PageUp']) await page.keyboard.press(key)
    await eventually(async () => expect((await chosen(page))[1]).to.match(/^w=\d{2,3}$/))
    await page.getByRole('searchbox', { name: 'Search parameters' }).fill('')
    await page.locator('summary').filter({ hasText: 'Flip' }).focus()
    expect(await field(page, 'flip').isVisible()).to.equal(false)
    await page.keyboard.press('Enter')
    await field(page, 'flip').waitFor()
    await button(page, 'Show greyscale=1').press('Enter')
    await eventually(async () =>
      expect(await page.evaluate('document.activeElement.closest("[id]").id')).to.equal(
        'parameter-greyscale',
      ),
    )
    await button(page, 'Reset all').press('Enter')
    await rendered(page, '400 × 300')
  })

  it('gives the URL, srcset, React and curl', async () => {
    await open(photo, '?w=100&h=50')
    const url = `${photo.src}?w=100&h=50`
    const { src } = photo
    expect(await snippet(page, 'URL')).to.equal(url)
    const srcset = await snippet(page, 'srcset')
    expect(srcset).to.contain(`src="${url.replace('&', '&amp;')}"`)
    for (const width of [50, 100, 200, 300])
      expect(srcset).to.contain(`${src}?w=${width}&amp;f=auto&amp;ar=100:50 ${width}w`)
    expect(await snippet(page, '<picture>')).to.contain(`${src}?w=200&amp;ar=100:50&amp;f=avif 200w`)
    const react = await snippet(page, 'React')
    for (const line of [`src="${src}"`, 'width={100}', "parameters={{ ar: '100:50' }}"])
      expect(react).to.contain(line)
    expect(await snippet(page, 'curl')).to.equal(
      `curl -o '${new URL(src).pathname.split('/').at(-1)}' '${url}'`,
    )
  })

  it('saves a preset, applies it after a reload, and deletes it', async () => {
    await open(photo, '?w=100&h=50&f=webp')
    await button(page, 'Save as preset').click()
    const dialog = page.getByRole('dialog', { name: 'Save as preset' })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Enter a name.').waitFor()
    await dialog.getByLabel('Name').fill('Two words')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await eventually(async () =>
      expect(await dialog.getByRole('alert').innerText()).to.contain('expected a name of 1 to 64'),
    )
    await dialog.getByLabel('Name').fill('card')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Preset card saved').waitFor()
    await button(page, 'Reset all').click()
    await page.waitForURL(/\.png$/)

    await page.reload()
    await rendered(page, '400 × 300')
    await button(page, 'Presets').click()
    await button(page, 'Apply card').click()
    await rendered(page, '100 × 50')
    expect(await chosen(page)).to.deep.equal(['preset=card'])
    expect(await snippet(page, 'URL')).to.equal(`${photo.src}?preset=card`)
    // Another width would change the crop.
    const densities = `${photo.src}?preset=card 1x,\n    ${photo.src}?preset=card&amp;dpr=2 2x`
    expect(await snippet(page, 'srcset')).to.contain(`srcset="${densities}"`)
    for (const kind of ['srcset', '<picture>', 'React'])
      expect(await snippet(page, kind)).not.to.match(/[?&;]w=|width/)
    await button(page, 'Presets').click()
    await button(page, 'Load the parameters of card').click()
    await eventually(async () => expect(await chosen(page)).to.have.members(['w=100', 'h=50', 'f=webp']))
    await button(page, 'Presets').click()
    await button(page, 'Delete card').click()
    await button(page, 'Delete card').waitFor({ state: 'detached' })
    expect(await ownPresets()).to.deep.equal([])
    await button(page, 'Undo').click()
    await eventually(async () => expect(await ownPresets()).to.deep.equal(['card']))
  })

  itLong('lets viewers try parameters, and save nothing', async () => {
    await sluice.presets.save('thumb', { group: 'image', parameters: 'w=60' })
    const viewer = await newMember(service, owner, {
      email: 'vi@example.com',
      role: 'viewer',
      clients: 'all',
    })
    const { page, errors } = await openPlayground({ pages, service, member: viewer }, { file: photo })
    await field(page, 'w').fill('80')
    await rendered(page, '80 × 60')
    expect(await button(page, 'Save as preset').count()).to.equal(0)
    await button(page, 'Presets').click()
    await button(page, 'Apply thumb').waitFor()
    expect(await button(page, 'Delete thumb').count()).to.equal(0)
    await button(page, 'Apply thumb').click()
    await rendered(page, '60 × 45')
    expect(errors).to.deep.equal([])
    await page.context().close()
  })

  itLong('shows the progress of the job of a video, then plays the video', async () => {
    await open(clip, '?w=160')
    const progress = page.getByRole('progressbar', { name: 'Progress of the job' })
    // How often ffmpeg reports its progress depends on the load of the machine.
    await Promise.all([
      page.getByText(/^Rendering, \d+% done$/).waitFor(),
      progress.and(page.locator('[aria-valuenow]')).waitFor(),
    ])
    await rendered(page, '160 × 120')
    expect(await progress.count()).to.equal(0)
    expect(await fact(page, 'Format')).to.equal('MP4')
    await page.getByText('with its job').waitFor()
    expect(await page.getByRole('tab').allInnerTexts()).to.deep.equal(['URL', 'curl'])
    await view(page, 'Original')
    const original = page.locator('video[aria-label="Original"]')
    await eventually(async () =>
      expect(await original.evaluate((one: { videoWidth: number }) => one.videoWidth)).to.equal(320),
    )
  })

  itLong('plays a stream', async () => {
    await open(clip, '?hls=1')
    const player = page.locator('video[aria-label="Result as a video"]')
    await eventually(async () =>
      expect(
        await player.evaluate(
          ({ src, duration }: { src: string; duration: number }) => src.startsWith('blob:') && duration > 2,
        ),
      ).to.equal(true),
    )
    await rendered(page, '320 × 240')
    expect(await snippet(page, 'URL')).to.equal(`${clip.src}?hls=1`)
  })

  const screens = [
    { colorScheme: 'light', width: 1440, views: ['Compare', 'Original'] },
    { colorScheme: 'dark', width: 390, views: ['Original', 'Focal point'] },
  ] as const
  for (const { colorScheme, width, views } of screens.slice(sized(1, 0)))
    it(`is usable by screen readers, at ${width} px in ${colorScheme} colours`, async function () {
      this.timeout(120_000)
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 844 })
      await open(photo, '?w=200&h=100')
      await rendered(page, '200 × 100')
      for (const shown of views) await view(page, shown)
      expect(await seriousFindings(page), views[1]).to.deep.equal([])
      await view(page, views[0])
      await field(page, 'w').fill('9999')
      await page.getByText('expected an integer').first().waitFor()
      await button(page, 'Presets').click()
      await page.getByRole('dialog', { name: 'Presets' }).getByText('thumbnail').waitFor()
      expect(await seriousFindings(page), `${views[0]}, refused, presets`).to.deep.equal([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(width)
    })
})
