import type { CDPSession, Locator, Page } from 'playwright-core'
import { PASSWORD } from './browser.ts'

/** A file that a person drops. */
export interface DroppedFile {
  name: string
  type: string
  bytes: Buffer
  /** How often the content repeats the bytes. Default: once. */
  times?: number
}

export const button = (within: Page | Locator, name: string): Locator =>
  within.getByRole('button', { name, exact: true })

/** A file or a folder of the list, by its whole name. */
export const item = (page: Page, name: string): Locator =>
  page.locator('[data-id]').filter({ has: page.getByTitle(name, { exact: true }) })

/** Follows a link of the sidebar, and waits for its page. */
export async function openPage(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click()
  await page.getByRole('heading', { name, level: 1 }).waitFor()
}

/** Fills in the form of the sign-in, on its page or in its dialog. */
export async function signIn(
  within: Page | Locator,
  { email, password = PASSWORD }: { email?: string; password?: string },
): Promise<void> {
  if (email !== undefined) await within.getByLabel('Email').fill(email)
  await within.getByLabel('Password', { exact: true }).fill(password)
  await button(within, 'Sign in').click()
}

/** Drops files in the middle of the page, as from a window of the desktop. */
export async function drop(page: Page, files: readonly DroppedFile[]): Promise<void> {
  const sent = files.map(({ bytes, ...file }) => ({ ...file, base64: bytes.toString('base64') }))
  await page.evaluate(`{
    const data = new DataTransfer()
    for (const { name, type, base64, times = 1 } of ${JSON.stringify(sent)}) {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
      data.items.add(new File(Array(times).fill(bytes), name, { type }))
    }
    for (const type of ['dragenter', 'dragover', 'drop'])
      document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }))
  }`)
}

/** Limits the rate of the uploads of a page until it is called again. -1: without a limit. */
export async function uploadRate(page: Page): Promise<(bytesPerSecond: number) => Promise<void>> {
  const session: CDPSession = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  return async (bytesPerSecond) => {
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: bytesPerSecond,
    })
  }
}
