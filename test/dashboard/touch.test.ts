import { expect } from 'chai'
import type { Locator, Page } from 'playwright-core'
import { onOneBackend } from '../support/backends.ts'
import { type Browser, firstOwner } from '../support/console/browser.ts'
import { type Pages, startPages } from '../support/peers/browser-pages.ts'
import { uploadOne } from '../support/requests/client.ts'
import type { Service } from '../support/service.ts'
import { everyNth } from '../support/sized.ts'

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
const SMALLEST_PX = 40

// How far from its middle a control still receives a touch. Links within text are as high as their line.
const TOO_SMALL = `[...document.querySelectorAll('button, input, textarea, summary, [role=combobox], nav a')]
  .filter((one) => !one.closest('[aria-hidden=true]') && !one.matches('[type=file], :disabled'))
  .map((one) => {
    const { left, top, width, height, bottom } = one.getBoundingClientRect()
    if (width < 2 || top < 0 || bottom > innerHeight) return []
    const [x, y] = [left + width / 2, top + height / 2]
    const receives = (toX, toY) => one.contains(document.elementFromPoint(x + toX, y + toY))
    // Below something else, for example a dialog.
    if (!receives(0, 0)) return []
    const reach = (stepX, stepY) => {
      let far = 0
      while (far < 40 && receives(stepX * (far + 1), stepY * (far + 1))) far += 1
      return far
    }
    const size = [reach(-1, 0) + reach(1, 0) + 1, reach(0, -1) + reach(0, 1) + 1]
    if (Math.min(...size) >= ${SMALLEST_PX}) return []
    return [(one.getAttribute('aria-label') || one.innerText || one.outerHTML).slice(0, 60) + ' ' + size.join(' x ')]
  })
  .flat()`

onOneBackend('the console on a touch screen', (start) => {
  let service: Service
  let pages: Pages
  let owner: Browser
  let page: Page
  before(async function () {
    this.timeout(120_000)
    ;[service, pages] = await Promise.all([start(), startPages()])
    owner = await firstOwner(service)
    await uploadOne(service, { name: 'notes.txt', bytes: 'a text' })
  })
  after(() => pages.stop())
  beforeEach(async function () {
    this.timeout(120_000)
    ;({ page } = await pages.open(PHONE))
    const [name = '', value = ''] = owner.cookie.split('=')
    await page.context().addCookies([{ name, value, url: service.url }])
  })
  afterEach(() => pages.closeAll())

  const style = (of: Locator, name: string) =>
    of.evaluate(
      (one, key) =>
        (
          globalThis as unknown as { getComputedStyle(one: unknown): Record<string, string> }
        ).getComputedStyle(one)[key],
      name,
    )
  async function open(path: string): Promise<void> {
    await page.goto(`${service.url}/dashboard/${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
  }
  async function expectLargeTargets(): Promise<void> {
    expect(await page.evaluate(TOO_SMALL), page.url()).to.deep.equal([])
    expect(await page.evaluate('document.documentElement.scrollWidth'), page.url()).to.be.at.most(390)
  }

  for (const path of everyNth(4, [
    'c/first/files',
    'c/first/playground',
    'c/first/jobs',
    'c/first/trash',
    'clients',
    'clients/first',
    'usage',
    'health',
    'members',
    'audit',
    'account',
  ]))
    it(`has controls of at least 40 px on the page ${path}`, async () => {
      await open(path)
      await page.waitForLoadState('networkidle')
      await expectLargeTargets()
    })

  it('has them in the sign-in, the navigation, menus, dialogs and the upload panel', async function () {
    this.timeout(120_000)
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    await open('c/first/files')
    await button('Open menu').click()
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    await expectLargeTargets()
    await button('Upload').click()
    await button('By URL').waitFor()
    await expectLargeTargets()
    await open('members')
    await button('Invite a member').click()
    await page.getByRole('dialog').waitFor()
    await expectLargeTargets()
    await page.context().clearCookies()
    await open('sign-in')
    await expectLargeTargets()
  })

  it('has text of 16 px in fields: iOS enlarges the page for smaller text', async () => {
    await open('c/first/files')
    const field = page.getByRole('searchbox', { name: 'Search' })
    expect(await style(field, 'fontSize')).to.equal('16px')
  })

  it('shows the boxes that select files', async () => {
    await open('c/first/files')
    const box = page.getByRole('checkbox', { name: 'Select notes.txt' })
    await box.waitFor()
    expect(await style(box, 'opacity')).to.equal('1')
    await box.tap()
    await page.getByRole('region', { name: 'Selection', exact: true }).getByText('1 selected').waitFor()
  })
})
