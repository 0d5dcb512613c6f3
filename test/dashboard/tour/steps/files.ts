import { createHash } from 'node:crypto'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { fileIdOf, newOriginal } from '../../../../src/core/files/object-key.ts'
import { knownFormat } from '../../../../src/core/media/formats.ts'
import { button, drop, item, openPage } from '../../../support/console/hands.ts'
import { eventually, LONG_MS } from '../../../support/eventually.ts'
import { entriesOf } from '../../../support/requests/archive.ts'
import { listAll } from '../../../support/stored/files.ts'
import { storedFile, type Tour } from './tour.ts'

const MANY = 10_000
// So many calls at a time share a write to the disk. With 1,000, calls of Redis run out of time on a busy machine.
const AT_ONCE = 100

const selection = (page: Page) => page.getByRole('region', { name: 'Selection', exact: true })
const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 })

async function openFolders(page: Page, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await item(page, name).dblclick()
    await heading(page, name).waitFor()
  }
}

/** A new folder, and files that are dropped into it. */
export async function dropFiles({ page, client, dropped }: Tour): Promise<void> {
  await button(page, 'New folder').click()
  await page.getByLabel('Name', { exact: true }).fill('summer')
  await button(page, 'Create').click()
  await page.getByRole('heading', { name: 'This folder is empty' }).waitFor()
  await drop(page, dropped)
  await page.getByRole('heading', { name: '3 files uploaded' }).waitFor()
  for (const { name } of dropped) await item(page, name).waitFor()
  // The two photos, and a frame of the video.
  await page.locator('[data-id] img.opacity-100').nth(2).waitFor()
  await button(page.getByRole('region', { name: 'Upload', exact: true }), 'Close').click()
  const stored = await listAll(client, 'prefix=summer')
  expect(stored.map(({ originalName, sha256 }) => [originalName, sha256]).sort()).to.deep.equal(
    dropped.map(({ name, bytes }) => [name, createHash('sha256').update(bytes).digest('hex')]).sort(),
  )
}

/** A folder that moves with its files, whose former URLs redirect. */
export async function moveFolder(tour: Tour): Promise<void> {
  const { page, client } = tour
  const former = (await storedFile(tour, 'pier.jpg')).src
  await page.getByRole('navigation', { name: 'Folders' }).getByRole('link', { name: 'Files' }).click()
  await heading(page, 'Files').waitFor()
  await item(page, 'summer').click()
  await button(selection(page), 'Move').click()
  const dialog = page.getByRole('dialog', { name: 'Move 3 files' })
  await dialog.getByLabel('Folder', { exact: true }).fill('archive')
  await dialog.getByLabel('Former URLs').click()
  await page.getByRole('option', { name: 'Redirect for 30 days' }).click()
  await button(dialog, 'Move').click()
  await page.getByText('3 files moved to archive').waitFor()
  await item(page, 'summer').waitFor({ state: 'detached' })
  await openFolders(page, 'archive', 'summer')
  await item(page, 'waves.mp4').waitFor()
  expect(await listAll(client, 'prefix=archive/summer')).to.have.length(3)
  const response = await fetch(former, { redirect: 'manual' })
  expect([response.status, response.headers.get('location')]).to.deep.equal([
    308,
    (await storedFile(tour, 'pier.jpg')).src,
  ])
}

/** A ZIP archive of two selected files, with the bytes that were uploaded. */
export async function downloadZip({ page, dropped: [pier, , waves] }: Tour): Promise<void> {
  await openPage(page, 'Files')
  await openFolders(page, 'archive', 'summer')
  await item(page, pier.name).click()
  await item(page, waves.name).click({ modifiers: ['Control'] })
  await selection(page).getByText('2 selected').waitFor()
  await button(selection(page), 'ZIP').click()
  const dialog = page.getByRole('dialog', { name: 'Download 2 files' })
  await dialog.getByLabel('Name of the archive').fill('press kit')
  const saved = page.waitForEvent('download')
  await button(dialog, 'Download as ZIP').click()
  const download = await saved
  expect(download.suggestedFilename()).to.equal('press kit.zip')
  const chunks: Buffer[] = []
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer)
  const entries = entriesOf(Buffer.concat(chunks)).filter(({ name }) => name !== '_manifest.json')
  expect(entries.map(({ name }) => name).sort()).to.deep.equal([pier.name, waves.name])
  for (const { name, bytes } of [pier, waves])
    expect(entries.find((entry) => entry.name === name)?.bytes.equals(bytes), name).to.equal(true)
}

/** A deleted file, which is back after "Undo", with its URL. */
export async function deleteAndUndo(tour: Tour): Promise<void> {
  const { page } = tour
  const { src } = await storedFile(tour, 'boats.png')
  await item(page, 'boats.png').click()
  await page.keyboard.press('Delete')
  await button(page.getByRole('dialog', { name: 'Delete boats.png?' }), 'Delete').click()
  const message = page.getByRole('listitem').filter({ hasText: '1 file deleted' })
  await message.waitFor()
  await item(page, 'boats.png').waitFor({ state: 'detached' })
  expect((await fetch(src)).status).to.equal(404)
  await button(message, 'Undo').click()
  await page.getByText('1 file restored').waitFor()
  await item(page, 'boats.png').waitFor()
  expect((await fetch(src)).status).to.equal(200)
}

/** A folder of 10,000 files: the list loads its parts while the person scrolls, and has only the visible rows. */
export async function scrollManyFiles(tour: Tour): Promise<void> {
  const { page } = tour
  await addMany(tour)
  await page.reload()
  await item(page, 'reports').getByText('10,000 files').waitFor()
  await openFolders(page, 'reports')
  await page.keyboard.press('v')
  await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click()
  await item(page, 'report 00000.zip').getByRole('gridcell').nth(2).click()
  await eventually(
    async () => {
      await page.keyboard.press('End')
      expect(await item(page, 'report 09999.zip').count()).to.equal(1)
    },
    { withinMs: LONG_MS },
  )
  await page.waitForFunction(`document.activeElement.textContent.includes('report 09999.zip')`)
  expect(await item(page, 'report 09999.zip').getAttribute('aria-rowindex')).to.equal(String(MANY + 1))
  expect(await page.locator('[data-id]').count()).to.be.below(100)
  // Of a long folder, only a part is loaded.
  await page.keyboard.press('Control+a')
  await button(page, 'Select all 10,000').click()
  await selection(page).getByText('10,000 selected').waitFor()
}

/** Adds the files to the index only: to list archives, the service needs no bytes, and 10,000 uploads would take minutes. */
async function addMany({ service, client }: Tour): Promise<void> {
  const format = knownFormat('zip')
  const records = Array.from({ length: MANY }, (_, i) => {
    const sha256 = createHash('sha256').update(String(i)).digest('hex')
    const id = fileIdOf(Buffer.from(sha256, 'hex'))
    return {
      key: newOriginal({ folder: 'reports', format, id }).key,
      originalName: `report ${String(i).padStart(5, '0')}.zip`,
      mediaType: format.mediaType,
      size: 1000 + i,
      sha256,
      storedAt: Date.now(),
    }
  })
  for (let from = 0; from < MANY; from += AT_ONCE)
    await Promise.all(
      records.slice(from, from + AT_ONCE).map((record) => service.storage.index.adopt(client.id, record)),
    )
}
