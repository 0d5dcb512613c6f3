import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

/** Chromium, for pages that a test clicks through. */
export interface Pages {
  /** A page in a session of its own, and everything that the browser has reported as an error since. */
  open(options?: BrowserContextOptions): Promise<{ page: Page; errors: string[] }>
  /** Closes all pages. For after each test: an open page polls the service, and takes CPU time from the next test. */
  closeAll(): Promise<void>
  stop(): Promise<void>
}

// Chromium's sandbox refuses root, and a container's /dev/shm is 64 MB.
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']
// A loaded machine needs time.
const TIMEOUT_MS = 60_000

/** Starts the Chromium of the system. */
export async function startPages(): Promise<Pages> {
  const browser: Browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ARGS })
  return {
    async open(options = {}) {
      // Animations take CPU time. Tests of them pass `no-preference`.
      const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
      context.setDefaultTimeout(TIMEOUT_MS)
      const page = await context.newPage()
      const errors: string[] = []
      page.on('pageerror', ({ message }) => errors.push(message))
      page.on('console', (message) => {
        if (message.type() === 'error') errors.push(message.text())
      })
      return { page, errors }
    },
    async closeAll() {
      await Promise.all(browser.contexts().map((context) => context.close()))
    },
    stop: () => browser.close(),
  }
}
