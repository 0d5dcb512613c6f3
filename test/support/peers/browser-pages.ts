import { type Browser, type BrowserContextOptions, chromium, type Download, type Page } from 'playwright-core'
import { SLOWNESS } from '../eventually.ts'
import { atEnd } from '../servers/at-end.ts'

/** Chromium, for pages that a test clicks through. */
export interface Pages {
  /** A page in a session of its own, and everything that the browser has reported as an error since. */
  open(options?: BrowserContextOptions): Promise<Opened>
  /** Closes all pages. For after each test: an open page polls the service, and takes CPU time from the next test. */
  closeAll(): Promise<void>
  /** The same, for the end of a suite. The browser continues to run, for the next file. */
  stop(): Promise<void>
}

interface Opened {
  page: Page
  errors: string[]
}

// Without windows and profiles: it starts, and begins a session, in a third of the CPU time.
const HEADLESS_SHELL = '/usr/lib/chromium/chromium-headless-shell'
const ARGS = [
  // Its sandbox refuses root, which containers run as.
  '--no-sandbox',
  '--disable-gpu',
  // A container's /dev/shm is 64 MB.
  '--disable-dev-shm-usage',
  '--autoplay-policy=no-user-gesture-required',
  // A camera that each page may use.
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
]
// A loaded machine needs time.
const TIMEOUT_MS = 60_000 * SLOWNESS
// What tests listen to.
const EVENTS = ['pageerror', 'console', 'request', 'response', 'requestfailed', 'websocket'] as const
// Playwright's default.
const VIEWPORT = { width: 1280, height: 720 }

let started: Promise<Browser> | undefined
atEnd(async () => (await started)?.close())

/** One browser for all files of a process: another one if it has crashed. */
async function sharedBrowser(): Promise<Browser> {
  if (started && !(await started).isConnected()) started = undefined
  started ??= chromium.launch({ executablePath: HEADLESS_SHELL, args: ARGS })
  return started
}

/** Sessions in the Chromium that test files share. */
export async function startPages(): Promise<Pages> {
  const browser = await sharedBrowser()
  const used = new Map<Page, string>()
  const free = new Map<string, Page[]>()

  async function newPage(options: BrowserContextOptions): Promise<Page> {
    const context = await browser.newContext(options)
    context.setDefaultTimeout(TIMEOUT_MS)
    return context.newPage()
  }
  return {
    async open({ viewport = VIEWPORT, colorScheme = 'light', reducedMotion = 'reduce', ...options } = {}) {
      // A page that a test before has left, and emptied: it has compiled the scripts of the console.
      const kind = JSON.stringify(options)
      const page = free.get(kind)?.pop() ?? (await newPage({ viewport, ...options }))
      used.set(page, kind)
      if (viewport) await page.setViewportSize(viewport)
      // Animations take CPU time. Tests of them pass `no-preference`.
      await page.emulateMedia({ colorScheme, reducedMotion })
      const errors: string[] = []
      page.on('pageerror', ({ message }) => errors.push(message))
      page.on('console', (message) => {
        if (message.type() === 'error') errors.push(message.text())
      })
      return { page, errors }
    },
    async closeAll() {
      const left = [...used]
      used.clear()
      await Promise.all(
        left.map(async ([page, kind]) => {
          if (await emptied(page)) free.set(kind, [page, ...(free.get(kind) ?? [])])
        }),
      )
    },
    async stop() {
      const pages = [...used.keys(), ...[...free.values()].flat()]
      used.clear()
      free.clear()
      await Promise.all(pages.map((page) => page.context().close()))
    },
  }
}

/** One page for a whole suite, in a session of its own. `page.context().close()` ends it. */
export async function startPage(): Promise<Page> {
  const context = await (await sharedBrowser()).newContext({ viewport: VIEWPORT })
  context.setDefaultTimeout(TIMEOUT_MS)
  return context.newPage()
}

/** Drags files onto the middle of the first element that matches, and drops them there. */
export async function dropFiles(page: Page, selector: string, files: readonly string[]): Promise<void> {
  const element = page.locator(selector).first()
  await element.evaluate((one: { scrollIntoView(options: object): void }) =>
    one.scrollIntoView({ block: 'center', behavior: 'instant' }),
  )
  const { x = 0, y = 0, width = 0, height = 0 } = (await element.boundingBox()) ?? {}
  const session = await page.context().newCDPSession(page)
  const event = {
    x: x + width / 2,
    y: y + height / 2,
    data: { items: [], files: [...files], dragOperationsMask: 1 },
  }
  // As by hand, with several moves: after the first one, a page may show something else under the pointer.
  for (const type of ['dragEnter', 'dragOver', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, ...event })
  await session.detach()
}

/** Opens the URL of a file that Chromium saves into this folder, under the name that it chooses. `failure()` of the result waits for the end. */
export async function download(page: Page, url: string, downloadPath: string): Promise<Download> {
  const session = await page.context().newCDPSession(page)
  await session.send('Page.setDownloadBehavior', { behavior: 'allow', downloadPath })
  const begun = page.waitForEvent('download')
  // The page that it should show does not come.
  await page.goto(url).catch(() => {})
  return begun
}

/**
 * Removes listeners, routes, cookies, and the storage of the last origin. A test with an init script or a DevTools session must
 * close its page.
 *
 * @returns false when the page is closed
 */
async function emptied(page: Page): Promise<boolean> {
  const context = page.context()
  if (page.isClosed()) return false
  // Not all: Playwright has listeners of its own.
  for (const event of EVENTS) page.removeAllListeners(event)
  await Promise.all([page, context].map((one) => one.unrouteAll({ behavior: 'ignoreErrors' })))
  const { origin } = new URL(page.url())
  if (origin !== 'null') await page.evaluate('sessionStorage.clear()')
  await page.goto('about:blank')
  await context.clearCookies()
  if (origin !== 'null') {
    const session = await context.newCDPSession(page)
    await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'local_storage,indexeddb' })
    await session.detach()
  }
  return true
}
