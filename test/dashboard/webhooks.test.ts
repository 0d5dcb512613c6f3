import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { onOneBackend } from '../support/backends.ts'
import { type Browser, firstOwner, newMember } from '../support/console/browser.ts'
import { eventually } from '../support/eventually.ts'
import { seriousFindings } from '../support/peers/axe.ts'
import { type Pages, startPages } from '../support/peers/browser-pages.ts'
import { type Caller, uploadOne } from '../support/requests/client.ts'
import { type Receiver, receiver } from '../support/requests/receiver.ts'
import type { Service } from '../support/service.ts'
import { itLong, sized } from '../support/sized.ts'

onOneBackend('the page Webhooks', (start) => {
  let good: Receiver
  let bad: Receiver
  let service: Service
  let pages: Pages
  let owner: Browser
  let shop: Caller & { id: string }
  let page: Page
  let errors: string[]
  before(async function () {
    this.timeout(120_000)
    good = await receiver(204)
    bad = await receiver(503)
    service = await start({
      env: {
        WEBHOOK_URL: `${good.url('/a')} ${bad.url('/b')}`,
        WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
        WEBHOOK_ALLOW_ADDRESSES: '127.0.0.1/32',
        WEBHOOK_EVENTS: 'original.stored archive.sent',
      },
    })
    pages = await startPages()
    owner = await firstOwner(service)
    const { json } = await owner.send('POST', '/v1/clients', { name: 'Shop' })
    shop = { id: json.id, url: service.url, tokens: json }
    for (const caller of [service, shop]) await uploadToBoth(caller)
    const opened = await open()
    page = opened.page
    errors = opened.errors
  })
  after(() => pages.stop())
  after(() => Promise.all([good.close(), bad.close()]))

  async function open({ cookie }: Browser = owner, options: Parameters<Pages['open']>[0] = {}) {
    const opened = await pages.open(options)
    const [name = '', value = ''] = cookie.split('=')
    await opened.page.context().addCookies([{ name, value, url: service.url }])
    await opened.page.goto(`${service.url}/dashboard/webhooks`)
    await opened.page.getByRole('row', { name: 'original.stored' }).first().waitFor()
    return opened
  }
  /** Uploads a file, and waits for the first attempt at each receiver. The second one follows after a minute. */
  async function uploadToBoth(caller: Caller) {
    const before = [good.received.length, bad.received.length]
    await uploadOne(caller, { name: 'a.txt', bytes: `text ${Math.random()}` })
    await eventually(async () => {
      const { json } = await owner.send('GET', '/v1/webhooks/deliveries?limit=2')
      expect([good.received.length, bad.received.length]).to.deep.equal(before.map((count) => count + 1))
      expect(json.deliveries.map(({ attempts }: { attempts: [] }) => attempts.length)).to.deep.equal([1, 1])
    })
  }
  const rows = (page: Page, name: string | RegExp) => page.getByRole('row', { name })
  const host = (of: Receiver) => new URL(of.url()).host
  async function choose(page: Page, label: string, option: string) {
    await page.getByLabel(label, { exact: true }).click()
    await page.getByRole('option', { name: option, exact: true }).click()
  }

  it('lists receivers, and deliveries by event, receiver, client and status', async () => {
    const receivers = page.getByRole('list', { name: 'Receivers' }).getByRole('listitem')
    expect(await receivers.count()).to.equal(2)
    await receivers
      .filter({ hasText: host(bad) })
      .getByText('archive.sent')
      .waitFor()
    const ofGood = rows(page, /first Delivered 204 · \d+ ms/).filter({ hasText: host(good) })
    const ofBad = rows(page, /first Retrying 503 · \d+ ms/).filter({ hasText: host(bad) })
    expect([await ofGood.count(), await ofBad.count()]).to.deep.equal([1, 1])

    await choose(page, 'Receiver', host(bad))
    await rows(page, host(good)).first().waitFor({ state: 'detached' })
    await rows(page, host(bad)).first().waitFor()
    expect(await rows(page, host(bad)).count()).to.equal(2)
    await choose(page, 'Client', 'Shop')
    await rows(page, 'first').waitFor({ state: 'detached' })
    await rows(page, 'Shop').waitFor()
    expect(await rows(page, 'Shop').count()).to.equal(1)
    await choose(page, 'Event', 'archive.sent')
    await page.getByText('No deliveries').waitFor()
    await choose(page, 'Event', 'All events')
    await page.getByRole('radio', { name: 'Delivered' }).click()
    await page.getByText('No deliveries').waitFor()
    await page.reload()
    expect(errors).to.deep.equal([])
  })

  it('shows the response of each receiver to a test event', async () => {
    bad.received.length = 0
    await page.getByRole('button', { name: 'Send test event' }).click()
    const dialog = page.getByRole('dialog')
    const entry = dialog.getByRole('listitem').filter({ hasText: host(bad) })
    await entry.getByText('Failed').waitFor()
    await entry.getByText(/^503 · \d+ ms$/).waitFor()
    await entry.getByText(`${host(bad)} responded with 503`).waitFor()
    await dialog
      .getByRole('listitem')
      .filter({ hasText: host(good) })
      .getByText('Delivered')
      .waitFor()
    expect(JSON.parse(String(bad.received[0]?.body)).type).to.equal('webhook.test')
    await dialog.getByRole('button', { name: 'Done' }).click()
  })

  itLong('replays one delivery, and then all that have failed or wait', async () => {
    await uploadToBoth(service)
    await uploadToBoth(shop)
    await page.reload()
    await rows(page, /first Retrying/)
      .first()
      .getByRole('button')
      .click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(`${host(bad)} responded with 503`).waitFor()
    await dialog.getByText(/Next attempt in \d/).waitFor()
    bad.status = 202
    await dialog.getByRole('button', { name: 'Replay' }).click()
    await page.getByText('1 delivery is sent again').waitFor()
    await dialog.getByText('Delivered').waitFor()
    // The latest first.
    const attempts = dialog.getByRole('list').getByRole('listitem')
    expect(await attempts.first().textContent()).to.match(/^202/)
    expect(await attempts.count()).to.equal(2)
    await dialog.getByRole('button', { name: 'Close' }).click()
    await rows(page, /first Delivered 202/)
      .first()
      .waitFor()

    await rows(page, /Shop Retrying 503/)
      .first()
      .waitFor()
    const replay = async () => {
      await page.getByRole('button', { name: 'Replay failed' }).click()
      await dialog.getByText('The failed deliveries of the last 7 days').waitFor()
    }
    await replay()
    await dialog.getByRole('button', { name: 'Replay' }).click()
    await page.getByText('There is nothing to send again').waitFor()
    await replay()
    await dialog.getByLabel('Also send pending ones now').check()
    await dialog.getByRole('button', { name: 'Replay' }).click()
    await page.getByText(/^[23] deliveries are sent again/).waitFor()
    await rows(page, /Shop Delivered 202/)
      .first()
      .waitFor()
    await rows(page, 'Retrying').first().waitFor({ state: 'detached' })
    bad.status = 503
    expect(errors).to.deep.equal([])
  })

  itLong('shows viewers the deliveries of one client, without a way to send events', async () => {
    const viewer = await newMember(service, owner, {
      email: 'bob@example.com',
      role: 'viewer',
      clients: [shop.id],
    })
    await uploadToBoth(shop)
    const { page, errors } = await open(viewer)
    expect(await rows(page, 'Shop').count()).to.be.at.least(2)
    expect(await rows(page, 'first').count()).to.equal(0)
    // Receivers belong to the operator.
    expect(await page.getByText('127.0.0.1').count()).to.equal(0)
    await rows(page, 'Retrying').first().getByRole('button').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('the receiver responded with 503').waitFor()
    expect(await page.getByRole('button', { name: /Replay|Send test/ }).count()).to.equal(0)
    expect(errors).to.deep.equal([])
  })

  itLong('lets editors test receivers and replay for their client', async () => {
    const editor = await newMember(service, owner, {
      email: 'eve@example.com',
      role: 'editor',
      clients: 'all',
    })
    const { page } = await open(editor)
    await choose(page, 'Client', 'Shop')
    await rows(page, 'Shop').first().waitFor()
    good.received.length = 0
    await page.getByRole('button', { name: 'Send test event' }).click()
    await page.getByRole('dialog').getByText('Delivered', { exact: true }).waitFor()
    expect(JSON.parse(String(good.received[0]?.body)).data).to.deep.equal({ clientId: shop.id })
  })

  const screens = [['light', 1440] as const, ['dark', 390] as const]
  for (const [colorScheme, width] of screens.slice(sized(1, 0)))
    it(`is usable by screen readers, at ${width} px in ${colorScheme} colours`, async () => {
      const { page } = await open(owner, { colorScheme, viewport: { width, height: 844 } })
      const check = async () => {
        expect(await seriousFindings(page)).to.deep.equal([])
        expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(width)
      }
      await check()
      await page.getByRole('button', { name: 'original.stored' }).first().click()
      await page.getByRole('dialog').getByText('"type": "original.stored"').waitFor()
      await check()
    })

  it('states how to configure receivers when there are none', async () => {
    const { page } = await pages.open()
    const [name = '', value = ''] = owner.cookie.split('=')
    await page.context().addCookies([{ name, value, url: service.url }])
    await page.route('**/v1/webhooks/receivers', (route) => route.fulfill({ json: { receivers: [] } }))
    await page.goto(`${service.url}/dashboard/webhooks`)
    await page.getByText('Set WEBHOOK_URL and WEBHOOK_SECRET').waitFor()
    expect(await page.getByRole('button', { name: 'Send test event' }).count()).to.equal(0)
  })
})
