import { EventEmitter, once } from 'node:events'
import { atEnd } from '../servers/at-end.ts'
import { startProgram } from './program.ts'

/** A browser without a window, with an empty page. */
export interface Chromium {
  /** Opens a URL in the page, and resolves when the page has loaded. */
  open(url: string): Promise<void>
  /** Sets the size of the page in CSS pixels, and its device pixels per CSS pixel. */
  resize(screen: { width: number; height: number; dpr: number }): Promise<void>
  /** Runs an expression in the page, awaits it if it is a promise, and returns its value, as JSON bears it. */
  evaluate(expression: string): Promise<unknown>
  /** Drags files onto the middle of the first element that matches, and drops them there. */
  drop(selector: string, files: readonly string[]): Promise<void>
  /** Sends a command of the DevTools protocol to the page, and returns its result. */
  send(method: string, params?: object): Promise<Record<string, unknown>>
  /** Follows a link to a file that is to be saved, and saves it into this folder. */
  download(url: string, folder: string): Promise<void>
  /** Ends the session. A browser that files share continues to run. */
  stop(): Promise<void>
}

interface Options {
  /** Further arguments of its command line. A browser with these is not shared. */
  args?: readonly string[]
  /** With its own pages, such as that of downloads. Default: {@link HEADLESS_SHELL}. */
  isWhole?: boolean
}

/** A running browser. */
interface Running {
  call(method: string, params: object, sessionId?: unknown): Promise<Record<string, unknown>>
  downloads: EventEmitter
  hasEnded(): boolean
  stop(): Promise<void>
}

interface Message {
  id?: number
  result?: Record<string, unknown>
  error?: { message: string }
  method?: string
  params?: Record<string, unknown>
}

/**
 * Chromium without windows and profiles: it starts, and begins a session, in a third of the CPU time. Not the one in the PATH:
 * that is a script, and a signal to end would not reach the program.
 */
export const HEADLESS_SHELL = '/usr/lib/chromium/chromium-headless-shell'

const ARGS = [
  '--headless=new',
  // Its sandbox refuses root, which containers run as.
  '--no-sandbox',
  '--disable-gpu',
  // A container's /dev/shm is 64 MB.
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--autoplay-policy=no-user-gesture-required',
  '--remote-debugging-pipe',
]

let shared: Promise<Running> | undefined
atEnd(async () => (await shared)?.stop())

/** A session in the Chromium that test files share, or in one of its own if there are options. */
export async function startChromium(options?: Options): Promise<Chromium> {
  if (options) return newSession(await run(options), { isOwn: true })
  if (shared && (await shared).hasEnded()) shared = undefined
  shared ??= run()
  return newSession(await shared, { isOwn: false })
}

/** Starts Chromium and speaks the DevTools protocol to it over its pipe: JSON with a NUL after each message. */
async function run({ args = [], isWhole = false }: Options = {}): Promise<Running> {
  const { input, output, stop } = await startProgram({
    name: isWhole ? 'chromium' : HEADLESS_SHELL,
    args: (folder) => [...ARGS, ...args, `--user-data-dir=${folder}/profile`],
  })
  const waiting = new Map<number, (message: Message) => void>()
  const downloads = new EventEmitter()
  let rest = ''
  output.setEncoding('utf8').on('data', (text: string) => {
    const messages = (rest + text).split('\0')
    rest = messages.pop() ?? ''
    for (const message of messages.map((json): Message => JSON.parse(json))) {
      if (message.id !== undefined) waiting.get(message.id)?.(message)
      if (message.method === 'Browser.downloadProgress') downloads.emit(String(message.params?.state))
    }
  })
  let hasEnded = false
  output.once('close', () => {
    hasEnded = true
    for (const done of waiting.values()) done({ error: { message: 'Chromium has ended' } })
  })
  let calls = 0
  async function call(method: string, params: object, sessionId?: unknown) {
    calls += 1
    const id = calls
    const answer = new Promise<Message>((done) => waiting.set(id, done))
    input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
    const { result = {}, error } = await answer
    if (error) throw new Error(`${method}: ${error.message}`)
    return result
  }
  return { call, downloads, hasEnded: () => hasEnded, stop }
}

/** An empty page, in a session of its own: with cookies and a cache for itself. */
async function newSession(
  { call, downloads, stop }: Running,
  { isOwn }: { isOwn: boolean },
): Promise<Chromium> {
  const context = isOwn ? {} : await call('Target.createBrowserContext', {})
  const { targetId } = await call('Target.createTarget', { url: 'about:blank', ...context })
  const { sessionId } = await call('Target.attachToTarget', { targetId, flatten: true })
  async function evaluate(expression: string): Promise<unknown> {
    const params = { expression, awaitPromise: true, returnByValue: true }
    const { result, exceptionDetails } = (await call('Runtime.evaluate', params, sessionId)) as {
      result: { value: unknown }
      exceptionDetails?: { exception?: { description?: string } }
    }
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description)
    return result.value
  }
  return {
    async open(url) {
      // Resolves when the new page replaces the old one: an expression in the old page would fail.
      const { errorText } = await call('Page.navigate', { url }, sessionId)
      if (errorText !== undefined) throw new Error(`${url}: ${errorText}`)
      await evaluate(
        `new Promise((done) => document.readyState === 'complete' ? done() : addEventListener('load', () => done()))`,
      )
    },
    async resize({ width, height, dpr }) {
      const metrics = { width, height, deviceScaleFactor: dpr, mobile: false }
      await call('Emulation.setDeviceMetricsOverride', metrics, sessionId)
    },
    evaluate,
    async drop(selector, files) {
      const middle = `(() => {
        const element = document.querySelector(${JSON.stringify(selector)})
        element.scrollIntoView({ block: 'center', behavior: 'instant' })
        const { left, top, width, height } = element.getBoundingClientRect()
        return { x: left + width / 2, y: top + height / 2 }
      })()`
      const place = (await evaluate(middle)) as { x: number; y: number }
      const data = { items: [], files, dragOperationsMask: 1 }
      // As by hand, with several moves: after the first one, a page may show something else under the pointer.
      for (const type of ['dragEnter', 'dragOver', 'dragOver', 'drop'])
        await call('Input.dispatchDragEvent', { type, ...place, data }, sessionId)
    },
    send: (method, params = {}) => call(method, params, sessionId),
    async download(url, downloadPath) {
      await call('Browser.setDownloadBehavior', {
        behavior: 'allow',
        downloadPath,
        eventsEnabled: true,
        ...context,
      })
      const done = once(downloads, 'completed', { signal: AbortSignal.timeout(10_000) })
      await call('Target.createTarget', { url, ...context })
      await done
    },
    stop: isOwn ? stop : async () => void (await call('Target.disposeBrowserContext', context)),
  }
}
