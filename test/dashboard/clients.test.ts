import { createHmac } from 'node:crypto'
import { ListObjectsV2Command } from '@aws-sdk/client-s3'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { onOneBackend } from '../support/backends.ts'
import { type Browser, firstOwner, newMember } from '../support/console/browser.ts'
import { eventually } from '../support/eventually.ts'
import { picture } from '../support/media/images.ts'
import { seriousFindings } from '../support/peers/axe.ts'
import { type Pages, startPages } from '../support/peers/browser-pages.ts'
import { type Caller, deleteFile, postFiles, uploadOne } from '../support/requests/client.ts'
import { exchange, jsonOf } from '../support/requests/exchange.ts'
import type { Remote } from '../support/requests/remote.ts'
import { fetchingFrom, fetchPath, fileServer } from '../support/requests/remote-files.ts'
import { type S3Server, s3Server } from '../support/servers/s3-server.ts'
import type { Service } from '../support/service.ts'
import { everyNth, sized } from '../support/sized.ts'

onOneBackend('the page Clients', (start) => {
  let service: Service
  let pages: Pages
  let owner: Browser
  let page: Page
  let errors: string[]
  let s3: S3Server
  let server: Remote
  let png: Buffer
  let shop: Caller & { id: string }
  before(async function () {
    this.timeout(120_000)
    png = await picture({ width: 400, height: 300 })
    server = await fileServer({ '/a.png': png })
    s3 = await s3Server()
    service = await start({ env: fetchingFrom(server), clientCacheTtlMs: 50 })
    pages = await startPages()
    owner = await firstOwner(service)
    const opened = await open('clients', owner, { permissions: ['clipboard-read', 'clipboard-write'] })
    page = opened.page
    errors = opened.errors
  })
  after(() => pages.stop())
  after(() => server.close())

  async function open(path: string, { cookie }: Browser, options: Parameters<Pages['open']>[0] = {}) {
    const opened = await pages.open(options)
    const [name = '', value = ''] = cookie.split('=')
    await opened.page.context().addCookies([{ name, value, url: service.url }])
    await opened.page.goto(`${service.url}/dashboard/${path}`)
    return opened
  }
  const dialog = () => page.getByRole('dialog')
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const tab = (name: string) => page.getByRole('tab', { name }).click()
  /** Copies the secret that is shown once, and closes its dialog. */
  async function copied(label: string): Promise<string> {
    await dialog().getByRole('button', { name: label }).click()
    await dialog().getByText('Copied').waitFor({ state: 'attached' })
    const text = String(await page.evaluate('navigator.clipboard.readText()'))
    await button('I have stored it').click()
    await dialog().waitFor({ state: 'detached' })
    expect(await page.content()).to.not.include(text)
    return text
  }
  /** Chooses an option of a select in the open dialog. */
  async function choose(label: string, option: string) {
    await dialog().getByLabel(label).click()
    await page.getByRole('option', { name: option }).click()
  }
  const statusWith = async (secret: string, path = '/v1/files') =>
    (await fetch(`${service.url}${path}`, { headers: { Authorization: secret } })).status
  const stored = async () => (await owner.send('GET', `/v1/clients/${shop.id}`)).json

  it('creates a client, and shows its secret once', async () => {
    await button('Create client').click()
    await dialog().getByLabel('Name').fill('Shop')
    await dialog().getByRole('button', { name: 'Create client' }).click()
    await dialog().getByText('Sluice stores only a hash of it').waitFor()
    // Neither closes it.
    await page.keyboard.press('Escape')
    await page.mouse.click(5, 5)
    const secretClientToken = await copied('Copy secret token')
    expect(await statusWith(secretClientToken)).to.equal(200)

    const row = page.getByRole('row', { name: 'Shop' })
    await row.getByRole('button', { name: 'Copy public token' }).click()
    await row.getByText('Copied').waitFor({ state: 'attached' })
    const clientToken = String(await page.evaluate('navigator.clipboard.readText()'))
    await row.getByRole('link', { name: 'Shop' }).click()
    await page.getByRole('heading', { name: 'Shop', level: 1 }).waitFor()
    const id = page.url().split('/').at(-1) ?? ''
    shop = { id, url: service.url, tokens: { clientToken, secretClientToken } }
    const { src } = await uploadOne(shop, { name: 'a.png', bytes: png })
    expect(src).to.include(`/${clientToken}/`)
  })

  it('rotates the secret, with an overlap and without one', async () => {
    const rotate = async (overlap: string) => {
      await button('Rotate secret').click()
      await choose('The old secret stays valid for', overlap)
      await dialog().getByRole('button', { name: 'Rotate secret' }).click()
      return copied('Copy secret token')
    }
    const first = shop.tokens.secretClientToken
    const second = await rotate('1 hour')
    await page.getByText('Replaced secrets remain valid until').waitFor()
    expect([await statusWith(first), await statusWith(second)]).to.deep.equal([200, 200])
    const third = await rotate('No time')
    await page.getByText('Replaced secrets remain valid until').waitFor({ state: 'detached' })
    const statuses = await Promise.all([first, second, third].map((secret) => statusWith(secret)))
    expect(statuses).to.deep.equal([401, 401, 200])
    shop.tokens.secretClientToken = third
  })

  it('adds and removes a scoped secret', async () => {
    await button('Add scoped secret').click()
    await dialog().getByLabel('Name').fill('Avatars')
    await dialog().getByLabel('Folder').fill('avatars')
    await choose('Expires', 'In 1 hour')
    await dialog().getByRole('button', { name: 'Add scoped secret' }).click()
    const secret = await copied('Copy secret token')
    const upload = () => postFiles(shop, [{ name: 'b.png', bytes: png }], { secret })
    const [{ s3PathOriginal }] = (await (await upload()).json()) as [{ s3PathOriginal: string }]
    expect(s3PathOriginal).to.match(/^avatars\//)
    expect(await statusWith(secret)).to.equal(403)
    await page.getByText('Uploads only', { exact: true }).waitFor()
    await button('Remove the secret Avatars').click()
    await dialog().getByRole('button', { name: 'Remove secret' }).click()
    await page.getByText('No scoped secrets.').waitFor()
    expect((await upload()).status).to.equal(401)
  })

  it('adds a delivery key that signs URLs, and removes it', async () => {
    await button('Add key').click()
    await dialog().getByText('Sluice does not show it again').waitFor()
    expect(await dialog().getByText('hash').count()).to.equal(0)
    const key = await copied('Copy delivery key')
    const { src } = await uploadOne(shop, { name: 'a.png', bytes: png })
    const target = `${new URL(src).pathname}?w=50`
    const signature = createHmac('sha256', key).update(target).digest('base64url')
    const signed = () => exchange(service, `${target}&s=1.${signature}`)
    expect((await signed()).status).to.equal(200)
    await button('Remove key 1').click()
    await dialog().getByRole('button', { name: 'Remove key 1' }).click()
    await page.getByText('No delivery keys.').waitFor()
    // Without a key, there are no signed URLs.
    expect(jsonOf(await signed()).code).to.equal('unknown_parameter')
  })

  it('saves rules, which then apply', async () => {
    const { src } = await uploadOne(shop, { name: 'a.png', bytes: png })
    const widthOf = async (query: string) =>
      (await sharp((await exchange(service, `${src}?${query}`)).body).metadata()).width
    const fetched = () => exchange(service, fetchPath(shop, server.url('/a.png'), { query: '?w=20' }))
    expect(await widthOf('w=33')).to.equal(33)
    expect(jsonOf(await fetched()).code).to.equal('fetch_not_allowed')
    await tab('Rules')
    const widths = page.getByLabel('Allowed widths, in pixels')
    await widths.fill('100\nwide')
    await button('Save rules').click()
    await page.getByRole('alert').filter({ hasText: 'allowedWidths' }).waitFor()
    await widths.fill('20\n100\n200')
    await page.getByLabel('Size of an upload, in bytes').fill(String(png.length - 1))
    await page
      .getByRole('radiogroup', { name: 'Allowed hosts' })
      .getByRole('radio', { name: 'Only these' })
      .click()
    await page.getByLabel('Allowed hosts', { exact: true }).and(page.getByRole('textbox')).fill('127.0.0.1')
    await page.getByText('3 unsaved changes').waitFor()
    await button('Save rules').click()
    await page.getByText('Changes saved').waitFor()
    expect((await stored()).rules).to.deep.equal({
      allowedWidths: [20, 100, 200],
      uploadMaxBytes: png.length - 1,
      fetchHosts: ['127.0.0.1'],
    })
    expect(await widthOf('w=34')).to.equal(100)
    expect((await postFiles(shop, [{ name: 'a.png', bytes: png }])).status).to.equal(413)
    expect((await fetched()).status).to.equal(200)
    const url = `**/v1/clients/${shop.id}`
    const refreshed = page.waitForResponse(
      (response) => response.request().method() === 'GET' && response.url().endsWith(url.slice(2)),
    )
    await page.getByLabel('Size of an upload, in bytes').fill('')
    await button('Save rules').click()
    await eventually(async () => expect((await stored()).rules).to.not.have.property('uploadMaxBytes'))
    // It fills the form again.
    await (await refreshed).finished()
    await page.getByText('unsaved change').waitFor({ state: 'detached' })
    // A refresh that fails leaves the form as it is.
    await page.route(url, (route) =>
      route.request().method() === 'GET' ? route.fulfill({ status: 500, json: {} }) : route.fallback(),
    )
    const refused = page.waitForResponse((response) => response.status() === 500)
    await widths.fill('20\n100')
    await button('Save rules').click()
    await (await refused).finished()
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))')
    expect(await widths.count()).to.equal(1)
    await page.unroute(url)
  })

  it('moves a client without files into its own bucket and back, and tests the connection', async () => {
    const bucket = await s3.newBucket()
    const { endpoint, credentials } = s3.connection
    const objects = async () =>
      (await s3.client.send(new ListObjectsV2Command({ Bucket: bucket }))).KeyCount ?? 0
    await tab('Storage')
    await button('Store files in a bucket of its own').click()
    const fill = async (label: string, value: string) =>
      page.getByRole('textbox', { name: label }).fill(value)
    await fill('Bucket', bucket)
    await fill('Endpoint', endpoint)
    await fill('Access key ID', credentials.accessKeyId)
    await fill('Secret access key', 'wrong')
    await page.getByLabel('Bucket in the path instead of the host name').check()
    await button('Test connection').click()
    await page
      .getByRole('alert')
      .filter({ hasText: 'the bucket cannot be used: could not put an object: SignatureDoesNotMatch' })
      .waitFor()
    await fill('Secret access key', credentials.secretAccessKey)
    expect(await page.getByRole('alert').count(), 'is about the former key').to.equal(0)
    await button('Test connection').click()
    await page.getByText('The connection works: an object was stored').waitFor()
    expect(await stored(), 'a test saves nothing').to.not.have.property('storage')
    await button('Save').click()
    await page.getByRole('alert').filter({ hasText: 'has files' }).waitFor()
    const { json } = await owner.send('GET', '/v1/files', undefined, { 'Sluice-Client': shop.id })
    for (const { s3PathOriginal } of json.files)
      expect((await deleteFile(shop, s3PathOriginal)).status).to.equal(200)
    await button('Save').click()
    await button('Return to the shared storage').waitFor()
    const { s3PathOriginal } = await uploadOne(shop, { name: 'a.png', bytes: png })
    expect(await objects()).to.equal(2)

    // The service tests with the stored secret access key.
    await button('Test connection').click()
    await page.getByText('The connection works: an object was stored').waitFor()
    await fill('Prefix', 'a')
    await button('Test connection').click()
    await page.getByText('expected 1 to 128 printable characters').waitFor()

    await button('Return to the shared storage').click()
    await dialog().getByRole('button', { name: 'Return to the shared storage' }).click()
    await dialog().getByRole('alert').filter({ hasText: 'has files' }).waitFor()
    await deleteFile(shop, s3PathOriginal)
    await dialog().getByRole('button', { name: 'Return to the shared storage' }).click()
    await page.getByText('The bucket of this installation').waitFor()
    await uploadOne(shop, { name: 'a.png', bytes: png })
    expect(await objects()).to.equal(0)
  })

  it('deletes a client after its name was typed', async () => {
    await tab('Settings')
    await button('Delete client').click()
    const confirm = dialog().getByRole('button', { name: 'Delete client' })
    await dialog().getByLabel('Type').fill('Sho')
    expect(await confirm.isDisabled()).to.equal(true)
    await dialog().getByLabel('Type').fill('Shop')
    await confirm.click()
    await dialog().getByRole('alert').filter({ hasText: 'has files' }).waitFor()
    await dialog().getByLabel('Delete all of its files too').check()
    await confirm.click()
    await page.getByText('Shop deleted, with 1 file').waitFor()
    await page.getByRole('row', { name: 'Shop' }).waitFor({ state: 'detached' })
    expect(await statusWith(shop.tokens.secretClientToken)).to.equal(401)
    // Refused requests are errors of the browser too: 500, 409 twice, 422, 400 for a rule and for a key, and 409.
    expect(errors.filter((text) => !/status of (?:4(?:00|09|22)|500)/.test(text))).to.deep.equal([])
  })

  it('leaves the first client where it is', async () => {
    await page.goto(`${service.url}/dashboard/clients/first`)
    await tab('Storage')
    await page.getByText('The first client always uses the storage of the installation').waitFor()
    expect(await button('Store files in a bucket of its own').count()).to.equal(0)
    await tab('Settings')
    await page.getByText('It cannot be deleted.').waitFor()
    expect(await button('Delete client').count()).to.equal(0)
  })

  it('shows viewers their clients, without a way to change them', async () => {
    const { id } = (await owner.send('POST', '/v1/clients', { name: 'Hidden' })).json
    const viewer = await newMember(service, owner, {
      email: 'bob@example.com',
      role: 'viewer',
      clients: ['first'],
    })
    const { page: theirs, errors: none } = await open('clients', viewer)
    await theirs.getByRole('row', { name: service.tokens.clientToken }).waitFor()
    expect(await theirs.getByText('Hidden').count()).to.equal(0)
    expect(await theirs.getByRole('button', { name: 'Create client' }).count()).to.equal(0)
    await theirs.goto(`${service.url}/dashboard/clients/${id}`)
    await theirs.getByText('Only owners can see this page.').waitFor()
    expect(none).to.deep.equal([])
  })

  const screens = [['light', 1440] as const, ['dark', 390] as const]
  for (const [colorScheme, width] of screens.slice(sized(1, 0)))
    it(`is usable by screen readers, at ${width} px in ${colorScheme} colours`, async function () {
      this.timeout(120_000)
      const { page: own } = await open('clients', owner, { colorScheme, viewport: { width, height: 844 } })
      const isPhone = width === 390
      const check = async (name: string) => {
        // Each takes a second. The tabs differ in their colours only.
        if (isPhone || name === 'list') expect(await seriousFindings(own), name).to.deep.equal([])
        expect(await own.evaluate('document.documentElement.scrollWidth'), name).to.be.at.most(width)
      }
      await own.getByRole('link', { name: 'Hidden' }).waitFor()
      await check('list')
      await own.getByRole('link', { name: 'Hidden' }).click()
      for (const [name, text] of everyNth(2, [
        ['Access', 'No delivery keys.'],
        ['Rules', 'Signed URLs only'],
        ['Presets', 'Named sets of parameters'],
        ['Storage', 'The bucket of this installation'],
        ['Settings', 'Client ID'],
      ] as const)) {
        await own.getByRole('tab', { name }).click()
        await own.getByText(text).first().waitFor()
        await check(name)
      }
    })
})
