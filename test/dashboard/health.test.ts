import { expect } from 'chai'
import { onOneBackend } from '../support/backends.ts'
import { type Browser, firstOwner, newMember } from '../support/console/browser.ts'
import { seriousFindings } from '../support/peers/axe.ts'
import { type Pages, startPages } from '../support/peers/browser-pages.ts'
import type { Service } from '../support/service.ts'
import { itLong, sized } from '../support/sized.ts'

onOneBackend('the page Health', (start) => {
  let service: Service
  let pages: Pages
  let owner: Browser
  before(async function () {
    this.timeout(120_000)
    service = await start({ env: { KEEP_ALIVE_SECONDS: '75', UPLOAD_MAX_BYTES: '1500000' } })
    pages = await startPages()
    owner = await firstOwner(service)
  })
  after(() => pages.stop())
  afterEach(() => pages.closeAll())

  let fonts: 'ok' | 'missing' = 'ok'
  let comparison: { files: number; total?: number } | undefined

  async function open({ cookie }: Browser = owner, options: Parameters<Pages['open']>[0] = {}) {
    const opened = await pages.open(options)
    const [name = '', value = ''] = cookie.split('=')
    await opened.page.context().addCookies([{ name, value, url: service.url }])
    // As on a machine that has all fonts, or none but Latin ones.
    await opened.page.route('**/v1/system', async (route) => {
      const response = await route.fetch()
      const json = await response.json()
      const shown = comparison ? { ...json, comparison } : json
      return route.fulfill({ json: { ...shown, checks: { ...json.checks, fonts } } })
    })
    await opened.page.goto(`${service.url}/dashboard/health`)
    return opened
  }

  it('shows checks, versions, plugins and the limits in force', async () => {
    const { page, errors } = await open()
    await page.getByText('Everything works').waitFor()
    expect(await page.getByText('Works', { exact: true }).count()).to.be.at.least(3)
    await page.getByText(process.versions.node, { exact: true }).waitFor()
    await page.getByText('image-resize', { exact: true }).waitFor()
    await page.getByRole('row', { name: /^UPLOAD_MAX_BYTES.* 1.5 MB / }).waitFor()
    await page.getByRole('row', { name: /^KEEP_ALIVE_SECONDS.* 1 min 15 s / }).waitFor()
    expect(await page.getByRole('row', { name: /^LOG_LEVEL/ }).count(), 'no limit').to.equal(0)
    await page.getByLabel('Search settings').fill('log level')
    await page.getByRole('row', { name: /^LOG_LEVEL/ }).waitFor()
    expect(await page.getByRole('row', { name: /^UPLOAD_MAX_BYTES/ }).count()).to.equal(0)
    await page.getByLabel('Search settings').fill('xyz')
    await page.getByText('No setting matches "xyz".').waitFor()
    expect(errors).to.deep.equal([])
  })

  itLong('shows how far the comparison of index and bucket is', async () => {
    comparison = { files: 1234, total: 56_789 }
    const { page } = await open()
    await page.getByText('1,234 of about 56,789 files so far').waitFor()
    comparison = undefined
  })

  itLong('says what the server lacks, although all requests work', async () => {
    fonts = 'missing'
    const { page } = await open()
    await page.getByText('Something is missing').waitFor()
    await page.getByText(/^Install fonts-noto-core and fonts-noto-cjk/).waitFor()
    fonts = 'ok'
    await page.getByRole('button', { name: 'Check again' }).click()
    await page.getByText('Everything works').waitFor()
  })

  it('says what to do when a check fails, and when the service does not respond', async () => {
    const { page } = await pages.open()
    const [name = '', value = ''] = owner.cookie.split('=')
    await page.context().addCookies([{ name, value, url: service.url }])
    let isReachable = true
    await page.route('**/v1/system', async (route) => {
      if (!isReachable) return route.fulfill({ status: 500, json: { detail: 'Something has failed.' } })
      const response = await route.fetch()
      const json = await response.json()
      return route.fulfill({
        json: { ...json, status: 'degraded', checks: { ...json.checks, disk: 'full' } },
      })
    })
    await page.goto(`${service.url}/dashboard/health`)
    await page.getByText('Some requests fail').waitFor()
    await page.getByText('Delete files that are not needed, or use a larger disk.').waitFor()
    isReachable = false
    await page.getByRole('button', { name: 'Check again' }).click()
    await page.getByText('The service did not respond to the latest check').waitFor()
  })

  itLong('is for owners only', async () => {
    const editor = await newMember(service, owner, {
      email: 'bob@example.com',
      role: 'editor',
      clients: 'all',
    })
    const { page } = await open(editor)
    await page.getByText('Only owners can see this page.').waitFor()
  })

  const screens = [['light', 1440] as const, ['dark', 390] as const]
  // In `npm test`, axe-core looks at pages with forms, dialogs and tables of their own, such as Clients and Files.
  for (const [colorScheme, width] of sized([], screens))
    it(`is usable by screen readers, at ${width} px in ${colorScheme} colours`, async () => {
      const { page } = await open(owner, { colorScheme, viewport: { width, height: 844 } })
      await page.getByText('Everything works').waitFor()
      expect(await seriousFindings(page)).to.deep.equal([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(width)
    })
})
