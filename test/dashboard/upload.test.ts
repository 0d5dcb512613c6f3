import { randomBytes } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import type { CDPSession, Page } from 'playwright-core'
import { onOneBackend } from '../support/backends.ts'
import { type Browser, firstOwner, PASSWORD } from '../support/console/browser.ts'
import { seriousFindings } from '../support/peers/axe.ts'
import { type Pages, startPages } from '../support/peers/browser-pages.ts'
import type { Service } from '../support/service.ts'
import { itLong, sized } from '../support/sized.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// More than are uploaded at once.
const MANY = sized(20, 60)
const EMAIL = 'ada@example.com'
// Smaller files are sent in one request.
const RESUMABLE_BYTES = 8 * 1024 ** 2
// Three requests, of 8 MiB at most.
const LARGE_BYTES = 18_000_000
// The first request has ended, and there is time to act before the last one ends.
const SENT_PERCENT = 50
const SLOW_BYTES_PER_SECOND = LARGE_BYTES / 8

onOneBackend('uploads in the console', (start) => {
  let folder: string
  let service: Service
  let pages: Pages
  let owner: Browser
  before(async () => {
    folder = await temporaryFolder()
    service = await start({ env: { UPLOAD_MAX_BYTES: String(LARGE_BYTES) } })
    pages = await startPages()
    owner = await firstOwner(service, EMAIL)
  })
  const slowed: Page[] = []
  afterEach(async () => {
    for (const page of slowed.splice(0)) await page.context().close()
    await pages.closeAll()
  })
  after(async () => {
    await pages.stop()
    await rm(folder, { recursive: true })
  })

  const button = (page: Page, name: string | RegExp) =>
    page.getByRole('button', typeof name === 'string' ? { name, exact: true } : { name })
  const panel = (page: Page) => page.getByRole('region', { name: 'Upload' })

  async function open(path = 'c/first/files', options = {}): Promise<{ page: Page; errors: string[] }> {
    const opened = await pages.open(options)
    const [name = '', value = ''] = owner.cookie.split('=')
    await opened.page.context().addCookies([{ name, value, url: service.url }])
    await opened.page.goto(`${service.url}/dashboard/${path}`)
    await opened.page.getByRole('heading', { level: 1 }).waitFor()
    return opened
  }
  async function choose(page: Page, name: string, files: string | string[]): Promise<void> {
    const chooser = page.waitForEvent('filechooser')
    const panel = page.getByRole('region', { name: 'Upload' })
    await panel.getByRole('button', { name, exact: true }).click()
    await (await chooser).setFiles(files)
  }
  /** So slow that a test can act during an upload. */
  async function slowDown(page: Page, bytesPerSecond: number): Promise<CDPSession> {
    const session = await page.context().newCDPSession(page)
    await session.send('Network.enable')
    await limit(session, bytesPerSecond)
    slowed.push(page)
    return session
  }
  const limit = (session: CDPSession, bytesPerSecond: number) =>
    session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: bytesPerSecond,
    })
  /** Until this part of a file has been sent, in percent. */
  async function hasSent(page: Page, name: string, percent: number): Promise<void> {
    const bar = panel(page).getByRole('progressbar', { name: `Upload of ${name}` })
    while (Number(await bar.getAttribute('data-value')) < percent) await page.waitForTimeout(50)
  }
  async function filesIn(path: string): Promise<Array<{ originalName: string; size: number }>> {
    const answer = await owner.send(
      'GET',
      `/v1/files?prefix=${encodeURIComponent(path)}&limit=1000`,
      undefined,
      {
        'Sluice-Client': 'first',
      },
    )
    return answer.json.files
  }
  async function largeFile(name: string): Promise<string> {
    const path = join(folder, name)
    await writeFile(path, randomBytes(LARGE_BYTES))
    return path
  }

  it(`uploads a folder of ${MANY} files with its structure, while the member changes pages`, async function () {
    this.timeout(120_000)
    const many = join(folder, 'many')
    await mkdir(join(many, 'inner'), { recursive: true })
    for (let i = 0; i < MANY; i += 1)
      await writeFile(join(many, i < MANY / 2 ? '' : 'inner', `note ${i}.txt`), `This is note ${i}.`)
    const { page, errors } = await open()
    await page.keyboard.press('u')
    await page.getByLabel(/^Folder/).fill('/imports//2026/')
    await choose(page, 'Choose a folder', many)
    await page.getByRole('link', { name: 'Trash' }).click()
    await page.getByRole('heading', { name: `${MANY} files uploaded` }).waitFor({ timeout: 150_000 })
    expect(await filesIn('imports/2026/many')).to.have.length(MANY)
    expect(await filesIn('imports/2026/many/inner')).to.have.length(MANY / 2)
    expect(errors).to.deep.equal([])
  })
  it('waits for the record of a stored file while the service is busy, and for a sign-in', async () => {
    const { page } = await open('c/first/files/polled')
    // Chromium does not give the bytes of a file to `route.fetch`, so the header is removed here.
    await page.evaluate(`{
      const { getAllResponseHeaders } = XMLHttpRequest.prototype
      XMLHttpRequest.prototype.getAllResponseHeaders = function () {
        return getAllResponseHeaders.call(this).replace(/^upload-record:.*\\r\\n/im, '')
      }
    }`)
    const refusals = [
      {
        status: 429,
        headers: { 'Retry-After': '0' },
        json: { status: 429, code: 'rate_limited', detail: '' },
      },
      { status: 401, json: { status: 401, code: 'unauthorized', detail: '' } },
    ]
    await page.route('**/v1/tus/*', (route) => {
      const refusal = route.request().method() === 'GET' ? refusals.shift() : undefined
      return refusal ? route.fulfill(refusal) : route.fallback()
    })
    await page.keyboard.press('u')
    const path = join(folder, 'polled.bin')
    await writeFile(path, randomBytes(RESUMABLE_BYTES))
    await choose(page, 'Choose files', path)
    const dialog = page.getByRole('dialog', { name: 'Your session has expired' })
    await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: '1 file uploaded' }).waitFor()
    expect(refusals).to.deep.equal([])
    await page.unrouteAll({ behavior: 'wait' })
  })

  it('pauses a file of 18 MB, and resumes it where it stopped after a reload', async function () {
    this.timeout(120_000)
    const { page, errors } = await open('c/first/files/films')
    const network = await slowDown(page, SLOW_BYTES_PER_SECOND)
    await page.keyboard.press('u')
    await choose(page, 'Choose files', await largeFile('film.bin'))
    await hasSent(page, 'film.bin', SENT_PERCENT)
    await button(page, 'Pause film.bin').click()
    await panel(page)
      .getByText(/^Paused at \d+.* MB of 18 MB$/)
      .waitFor()
    await page.reload()
    await button(page, 'Resume film.bin').waitFor()
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/v1/tus'))
        sent.push(`${request.method()} ${request.headers()['upload-offset'] ?? ''}`)
    })
    await limit(network, -1)
    await button(page, 'Resume film.bin').click()
    await page.getByRole('heading', { name: '1 file uploaded' }).waitFor()
    expect(sent.map((line) => line.split(' ')[0])).to.not.include('POST')
    expect(Number(sent.find((line) => line.startsWith('PATCH'))?.split(' ')[1])).to.be.above(8_000_000)
    expect((await filesIn('films')).map(({ size }) => size)).to.deep.equal([LARGE_BYTES])
    expect(errors).to.deep.equal([])
  })

  itLong('waits for a sign-in when the session expires during an upload', async function () {
    this.timeout(120_000)
    const { page } = await open('c/first/files/late')
    const network = await slowDown(page, SLOW_BYTES_PER_SECOND)
    await page.keyboard.press('u')
    await choose(page, 'Choose files', await largeFile('late.bin'))
    await hasSent(page, 'late.bin', SENT_PERCENT)
    await page.context().clearCookies()
    const dialog = page.getByRole('dialog', { name: 'Your session has expired' })
    await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await limit(network, -1)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: '1 file uploaded' }).waitFor()
    expect((await filesIn('late')).map(({ size }) => size)).to.deep.equal([LARGE_BYTES])
  })

  itLong('names the folder of a drop, and says what to do about a refused file', async function () {
    this.timeout(120_000)
    const { page } = await open('c/first/files/dropped/here', {
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const drag = (types: string[]) =>
      page.evaluate(`{
        const data = new DataTransfer()
        data.items.add(new File(['a text'], 'note.txt', { type: 'text/plain' }))
        data.items.add(new File([new Uint8Array(${LARGE_BYTES + 1})], 'large.bin'))
        for (const type of ${JSON.stringify(types)})
          document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }))
      }`)
    await drag(['dragenter', 'dragover'])
    await page.getByText('to first / dropped/here').waitFor()
    await drag(['drop'])
    await page.getByText(/This file is (too large|larger)/).waitFor()
    await button(page, 'Copy the URL of note.txt').click()
    const url = String(await page.evaluate('navigator.clipboard.readText()'))
    expect(await (await fetch(url)).text()).to.equal('a text')
    expect(await filesIn('dropped/here')).to.have.length(1)
    expect(await seriousFindings(page)).to.deep.equal([])
  })

  itLong('lists failed files first, with their number next to that of the others', async function () {
    this.timeout(120_000)
    const { page } = await open()
    await page.evaluate(`{
      const data = new DataTransfer()
      for (let i = 0; i < 8; i += 1) data.items.add(new File(['a text ' + i], 'note-' + i + '.txt'))
      data.items.add(new File([new Uint8Array(${LARGE_BYTES + 1})], 'large.bin'))
      for (const type of ['dragenter', 'dragover', 'drop'])
        document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }))
    }`)
    await page.getByRole('heading', { name: '1 file failed, 8 uploaded' }).waitFor()
    expect(await panel(page).getByRole('listitem').first().innerText()).to.contain('large.bin')
  })

  itLong('fetches a URL, and describes one that cannot be fetched', async function () {
    this.timeout(120_000)
    const { page } = await open('c/first/files', {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    })
    await button(page, 'Open menu').click()
    await button(page, 'Upload').click()
    await button(page, 'Take a photo').waitFor()
    await button(page, 'By URL').click()
    await page.getByLabel('URLs of files').fill('file:///etc/hosts')
    await panel(page).getByRole('button', { name: 'Upload' }).click()
    await page.getByText('"file:///etc/hosts" is not a URL.').waitFor()
    expect(await seriousFindings(page)).to.deep.equal([])
    await page.getByLabel('URLs of files').fill('https://127.0.0.1:9/photo.jpg')
    await panel(page).getByRole('button', { name: 'Upload' }).click()
    await page.getByRole('heading', { name: '1 file failed' }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(390)
  })
})
