import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { createClient, type FileRecord, type SluiceClient } from '../../client/index.ts'
import { onOneBackend } from '../support/backends.ts'
import { firstOwner } from '../support/console/browser.ts'
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
import { projectFolder } from '../support/drop-ins.ts'
import { eventually } from '../support/eventually.ts'
import { picture } from '../support/media/images.ts'
import { tone } from '../support/media/sounds.ts'
import { video } from '../support/media/videos.ts'
import { type Pages, startPages } from '../support/peers/browser-pages.ts'
import type { Service } from '../support/service.ts'
import { itLong } from '../support/sized.ts'

// One parameter of each type.
const BRAND = `export default {
  name: 'image-brand',
  engine: 'sharp',
  phase: 'effect',
  params: {
    brand: { type: 'flag', help: 'Turns everything red.' },
    brand_step: { type: 'integer', min: 1, max: 9, help: 'A step.' },
    brand_mix: { type: 'number', min: 0, max: 1, default: 0.5, help: 'A mix.' },
    brand_mode: { type: 'enum', values: ['soft', 'hard'], help: 'A mode.' },
    brand_tone: { type: 'color', help: 'A colour.' },
    brand_word: { type: 'text', maxLength: 20, help: 'A word.' },
    brand_logo: { type: 'key', group: 'image', help: 'A file.' },
    brand_at: { type: 'list', of: 'integer', names: ['x', 'y'], separator: ',', min: [0, 0], max: [9, 9], help: 'A place.' },
  },
  transform: (image, { brand }) => (brand ? image.flatten().linear([0, 0, 0], [255, 0, 0]) : image),
}
`

onOneBackend('the page Playground', (start) => {
  let service: Service
  let pages: Pages
  let page: Page
  let errors: string[]
  let sluice: SluiceClient
  let photo: FileRecord
  before(async function () {
    this.timeout(120_000)
    service = await start({ root: await projectFolder({ 'brand.js': BRAND }) })
    sluice = createClient({ baseUrl: service.url, secret: service.tokens.secretClientToken })
    photo = await sluice.files.upload(await picture(), { name: 'photo.png' })
    const owner = await firstOwner(service)
    pages = await startPages()
    ;({ page, errors } = await openPlayground({ pages, service, member: owner }, { file: photo }))
  })
  after(() => pages.stop())

  async function open(file: FileRecord, query = ''): Promise<void> {
    await visit(page, { service, file, query })
    errors.length = 0
  }
  itLong('has a control for each parameter of each plugin', async () => {
    const clip = await sluice.files.upload(await video(), { name: 'clip.mp4' })
    const lists = await sluice.parameters()
    const sound = await sluice.files.upload(await tone({ levels: [1] }), { name: 'tone.wav' })
    for (const [group, file] of [
      ['image', photo],
      ['video', clip],
      ['audio', sound],
    ] as const) {
      await open(file)
      // What most people look for.
      const titles = await page.locator('details > summary').allTextContents()
      const first = titles.map((title) => /^(?:Resize|Format)/.test(title.trim()))
      expect(first.slice(0, first.filter(Boolean).length), titles.join()).to.not.include(false)
      expect(first[0], titles.join()).to.equal(true)
      // Controls appear when their group is opened.
      const closed = page.locator('details:not([open]) > summary')
      while ((await closed.count()) > 0) await closed.first().click()
      const expected = (lists[group] ?? []).flatMap((one) =>
        one.type === 'list' ? (one.names as string[]).map((part) => `${one.name}: ${part}`) : [one.name],
      )
      // A group that was opened has its controls a moment later.
      await eventually(async () => {
        const labels = await page
          .locator('[aria-label^="Value of "]')
          .evaluateAll((all: Array<{ ariaLabel: string }>) => all.map(({ ariaLabel }) => ariaLabel.slice(9)))
        expect(labels.sort()).to.deep.equal(expected.sort())
      })
    }
  })

  itLong('gives a custom plugin controls that fit its parameters', async () => {
    await open(photo)
    await rendered(page, '400 × 300')
    await page.getByRole('searchbox', { name: 'Search parameters' }).fill('brand')
    expect(await page.locator('summary').allInnerTexts()).to.deep.equal(['Brand'])
    const roles = {
      spinbutton: ['brand_step', 'brand_mix', 'brand_at: x', 'brand_at: y'],
      textbox: ['brand_tone', 'brand_word', 'brand_logo'],
      combobox: ['brand_mode'],
      radiogroup: ['brand'],
    } as const
    for (const [role, names] of Object.entries(roles))
      for (const name of names)
        await page.getByRole(role as 'textbox', { name: `Value of ${name}`, exact: true }).waitFor()
    await field(page, 'brand').getByRole('radio', { name: 'On' }).click()
    await eventually(async () => expect(await snippet(page, 'URL')).to.equal(`${photo.src}?brand=1`))
    // It was green before.
    const pixel = `(() => {
      const image = document.querySelector('img[alt=Result]')
      const context = document.createElement('canvas').getContext('2d')
      context.drawImage(image, image.naturalWidth - 1, 0, 1, 1, 0, 0, 1, 1)
      return [...context.getImageData(0, 0, 1, 1).data]
    })()`
    await eventually(async () => expect(await page.evaluate(pixel)).to.deep.equal([255, 0, 0, 255]))
  })

  it('changes the preview, the URL, the address and the numbers', async () => {
    await open(photo)
    await rendered(page, '400 × 300')
    expect(await fact(page, 'Format')).to.equal('PNG')
    await field(page, 'w').fill('200')
    await field(page, 'f').click()
    await page.getByRole('option', { name: 'webp' }).click()
    await eventually(async () => expect(await fact(page, 'Format')).to.equal('WEBP'))
    await rendered(page, '200 × 150')
    const url = `${photo.src}?w=200&f=webp`
    expect(await snippet(page, 'URL')).to.equal(url)
    const bytes = (await (await fetch(url)).arrayBuffer()).byteLength
    expect(await fact(page, 'Size')).to.equal(`${bytes} B`)
    const saved = photo.size - bytes
    expect(await fact(page, 'Saved')).to.equal(
      saved < 1000 ? `${saved} B` : `${Number((saved / 1000).toFixed(1))} kB`,
    )
    expect(await fact(page, 'Time')).to.match(/^\d+ ms$/)
    expect(await chosen(page)).to.deep.equal(['w=200', 'f=webp'])
    await page.waitForURL(/\?w=200&f=webp$/)
    await page.reload()
    await rendered(page, '200 × 150')
    await button(page, 'Remove w').first().click()
    await rendered(page, '400 × 300')
    expect(errors).to.deep.equal([])
  })

  it('crops and sets the focal point by dragging and by arrow keys', async () => {
    await open(photo)
    await view(page, 'Original')
    const frame = page.getByRole('button', { name: /^Crop of / })
    await frame.waitFor()
    async function drag(...way: ReadonlyArray<readonly [right: number, down: number]>) {
      const {
        x = 0,
        y = 0,
        width = 0,
        height = 0,
      } = (await page.getByRole('img', { name: 'Original' }).boundingBox()) ?? {}
      const [from, to] = way.map(([right, down]) => [x + right * width, y + down * height] as const)
      if (!from || !to) return
      await page.mouse.move(...from)
      await page.mouse.down()
      await page.mouse.move(...to, { steps: 3 })
      await page.mouse.up()
    }
    const crop = async () => (await chosen(page))[0]?.replace('crop=', '').split(',').map(Number)
    const near = async (expected: readonly number[]) =>
      eventually(async () => {
        const numbers = (await crop()) ?? []
        for (const [i, number] of expected.entries()) expect(numbers[i]).to.be.closeTo(number, 2)
      })
    await drag([0.25, 0.25], [0.75, 0.75])
    await near([100, 75, 200, 150])
    await drag([0.5, 0.5], [0.6, 0.5])
    await near([140, 75, 200, 150])
    await drag([0.85, 0.75], [0.6, 0.5])
    await near([140, 75, 100, 75])
    const [left = 0, , wide = 0] = (await crop()) ?? []
    await frame.focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Shift+ArrowRight')
    await eventually(async () =>
      expect((await crop())?.filter((_, i) => i % 2 === 0)).to.deep.equal([left + 4, wide + 4]),
    )
    await view(page, 'Result')
    await rendered(page, `${wide + 4} × ${(await crop())?.[3]}`)
    await view(page, 'Original')
    await button(page, 'Remove crop').first().click()

    await view(page, 'Focal point')
    await drag([0.5, 0.5], [0.25, 0.75])
    const point = async () => (await chosen(page)).map((text) => Number(text.replace(/^f[xy]=/, '')))
    await eventually(async () => {
      const [fx = 0, fy = 0] = await point()
      expect(fx).to.be.closeTo(0.25, 0.01)
      expect(fy).to.be.closeTo(0.75, 0.01)
    })
    const [before = 0] = await point()
    await page.getByRole('button', { name: /^Focal point at / }).focus()
    await page.keyboard.press('ArrowRight')
    await eventually(async () => expect((await point())[0]).to.be.closeTo(before + 0.01, 0.0001))
  })

  itLong('compares the result with the original', async () => {
    await open(photo, '?greyscale=1&w=300')
    await rendered(page, '300 × 225')
    await view(page, 'Compare')
    const clips = () =>
      page
        .locator('img[style*="clip-path"]')
        .evaluateAll((all: Array<{ alt: string; style: { clipPath: string } }>) =>
          all.map(({ alt, style }) => `${alt} ${style.clipPath}`),
        )
    expect(await clips()).to.deep.equal(['Result inset(0px 0px 0px 50%)', 'Original inset(0px 50% 0px 0px)'])
    const slider = page.getByRole('slider', { name: /^Boundary/ })
    const { x = 0, y = 0, width = 0, height = 0 } = (await slider.boundingBox()) ?? {}
    await page.mouse.move(x + width / 2, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + width, y + height / 2, { steps: 3 })
    await page.mouse.up()
    expect(await clips()).to.deep.equal(['Result inset(0px 0px 0px 100%)', 'Original inset(0px 0% 0px 0px)'])
    await page.keyboard.press('Home')
    expect(await clips()).to.deep.equal(['Result inset(0px 0px 0px 0%)', 'Original inset(0px 100% 0px 0px)'])
  })

  itLong('shows why parameters are refused, and keeps the last result', async () => {
    await open(photo, '?w=100')
    await rendered(page, '100 × 75')
    const text = 'expected an integer from 1 to 5000 px or auto for w but received "9999"'
    await field(page, 'w').fill('9999')
    await eventually(async () => expect(await page.getByRole('alert').allInnerTexts()).to.have.length(2))
    for (const alert of await page.getByRole('alert').allInnerTexts()) expect(alert).to.contain(text)
    expect(await field(page, 'w').getAttribute('aria-invalid')).to.equal('true')
    expect(await fact(page, 'Size')).to.equal('–')
    expect(await fact(page, 'Dimensions')).to.equal('–')
    expect(
      await page
        .getByRole('img', { name: 'Result' })
        .evaluate((one: { naturalWidth: number }) => one.naturalWidth),
    ).to.equal(100)
    await page.getByRole('alert').getByRole('button', { name: 'Remove w' }).click()
    await rendered(page, '400 × 300')
    expect(await page.getByRole('alert').count()).to.equal(0)

    await open(photo, '?w=9999')
    await page.getByRole('heading', { name: 'The service refuses these parameters' }).waitFor()
    await page.getByRole('alert').getByText(text).first().waitFor()
  })
})
