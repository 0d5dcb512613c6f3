import { expect } from 'chai'
import type { Page } from 'playwright-core'
import type { FileRecord } from '../../../client/index.ts'
import { eventually } from '../eventually.ts'
import type { Pages } from '../peers/browser-pages.ts'
import type { Service } from '../service.ts'
import type { Browser } from './browser.ts'

/** Opens the playground of a file. `query`: parameters in its address, with `?`. */
export async function openPlayground(
  { pages, service, member }: { pages: Pages; service: Service; member: Browser },
  {
    file,
    query = '',
    ...options
  }: { file: Pick<FileRecord, 's3PathOriginal'>; query?: string } & Parameters<Pages['open']>[0],
) {
  const opened = await pages.open({ reducedMotion: 'reduce', ...options })
  const [name = '', value = ''] = member.cookie.split('=')
  await opened.page.context().addCookies([{ name, value, url: service.url }])
  await visit(opened.page, { service, file, query })
  return opened
}

/** Loads the playground of a file in an open page. */
export async function visit(
  page: Page,
  { service, file, query }: { service: Service; file: Pick<FileRecord, 's3PathOriginal'>; query: string },
): Promise<void> {
  await page.goto(`${service.url}/dashboard/c/first/playground/${file.s3PathOriginal}${query}`)
  await page.getByRole('searchbox', { name: 'Search parameters' }).waitFor()
}

/** A button by its whole name. */
export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** The control of a parameter. */
export const field = (page: Page, name: string) => page.getByLabel(`Value of ${name}`, { exact: true })

/** Chooses what the preview shows, or one of its tools. */
export const view = (page: Page, name: string) => page.getByRole('radio', { name, exact: true }).click()

/** The chosen parameters, as `w=200`. */
export const chosen = (page: Page) =>
  page.getByRole('region', { name: 'Active' }).locator('.font-mono').allInnerTexts()

/** One of the numbers below the preview. */
export const fact = (page: Page, name: string) => page.locator(`dt:text-is("${name}") + dd`).innerText()

/** One of the snippets, by the name of its tab. */
export async function snippet(page: Page, kind: string): Promise<string> {
  await page.getByRole('tab', { name: kind, exact: true }).click()
  return page.getByRole('region', { name: kind, exact: true }).innerText()
}

/** Waits for a result with these dimensions, as `400 × 300`. */
export const rendered = (page: Page, dimensions: string) =>
  eventually(async () => expect(await fact(page, 'Dimensions')).to.equal(dimensions))
