import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { onOneBackend } from '../support/backends.ts'
import { type Browser, firstOwner } from '../support/console/browser.ts'
import { seriousFindings } from '../support/peers/axe.ts'
import { type Pages, startPages } from '../support/peers/browser-pages.ts'
import type { Service } from '../support/service.ts'
import { itLong, sized } from '../support/sized.ts'
import { addUsage } from '../support/stored/usage.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const DAY_MS = 86_400_000
const dayBefore = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)
const counts = (deliveries: number) => ({
  deliveries,
  deliveredBytes: deliveries * 1000,
  transformations: 25,
  cacheHits: 75,
  errors: 10,
})

onOneBackend('the page Usage', (start, backend) => {
  let service: Service
  let pages: Pages
  let owner: Browser
  before(async function () {
    this.timeout(120_000)
    const dataDir = await temporaryFolder()
    await addUsage(backend, dataDir, [
      { clientId: 'first', day: dayBefore(40), counts: counts(1000) },
      { clientId: 'first', day: dayBefore(20), counts: counts(1200) },
      { clientId: 'first', day: dayBefore(3), counts: counts(300) },
    ])
    service = await start({ dataDir })
    pages = await startPages()
    owner = await firstOwner(service)
    await owner.send('POST', '/v1/clients', { name: 'Shop' })
  })
  after(() => pages.stop())
  afterEach(() => pages.closeAll())

  async function open(options: Parameters<Pages['open']>[0] = {}) {
    const opened = await pages.open(options)
    const [name = '', value = ''] = owner.cookie.split('=')
    await opened.page.context().addCookies([{ name, value, url: service.url }])
    await opened.page.goto(`${service.url}/dashboard/usage`)
    await opened.page.getByRole('slider').waitFor()
    return opened
  }
  const choice = (page: Page, name: string | RegExp) => page.getByRole('radio', { name })

  it('has the totals of the chosen days, compared with those before', async () => {
    const { page, errors } = await open()
    await choice(page, 'Deliveries 1.5K +50%').waitFor()
    await choice(page, 'Traffic 1.5 MB +50%').waitFor()
    await choice(page, 'Cache hits 150 75% hit rate').waitFor()
    await choice(page, '7 days').click()
    await choice(page, 'Deliveries 300 New').waitFor()
    await choice(page, 'Custom').click()
    await page.getByLabel('First day').fill(dayBefore(45))
    await choice(page, /^Deliveries 2.5K/).waitFor()
    expect(errors).to.deep.equal([])
  })

  itLong('reads each day by keys, compares clients, and has a table', async () => {
    const { page } = await open()
    await page.getByRole('checkbox', { name: 'Compare first' }).press('Space')
    await page.getByRole('checkbox', { name: 'Compare Shop' }).press('Space')
    const chart = page.getByRole('slider', { name: /^Deliveries by day/ })
    await chart.press('End')
    for (let day = 0; day < 3; day += 1) await chart.press('ArrowLeft')
    expect(await chart.getAttribute('aria-valuetext')).to.match(/: first 300, Shop 0$/)
    await choice(page, 'Table').click()
    const rows = page.getByRole('region', { name: 'Deliveries by day' }).getByRole('row')
    expect(await rows.count()).to.equal(31)
    expect(await rows.nth(0).innerText()).to.match(/^Day\s+first\s+Shop$/)
    expect(await rows.nth(4).innerText()).to.match(/\s300\s+0$/)
  })

  itLong('saves the days as CSV', async () => {
    const { page } = await open()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ])
    expect(download.suggestedFilename()).to.match(/^usage-\S+\.csv$/)
    const lines = (await readFile(await download.path(), 'utf8')).split('\n')
    expect(lines[0]).to.equal(
      'day,client,storedBytes,uploads,deliveries,bytes,transformations,cacheHits,errors,uploadedBytes',
    )
    expect(lines).to.include(`${dayBefore(20)},first,,0,1200,1200000,25,75,10,0`)
    expect(lines.join('\n')).not.to.include(dayBefore(40))
  })

  const screens = [['light', 1440] as const, ['dark', 390] as const]
  // In `npm test`, axe-core looks at pages with forms, dialogs and tables of their own, such as Clients and Files.
  for (const [colorScheme, width] of sized([], screens))
    it(`is usable by screen readers, at ${width} px in ${colorScheme} colours`, async () => {
      const { page } = await open({ colorScheme, viewport: { width, height: 844 } })
      expect(await seriousFindings(page)).to.deep.equal([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(width)
    })
})
