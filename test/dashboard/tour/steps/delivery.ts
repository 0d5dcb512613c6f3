import { expect } from 'chai'
import sharp from 'sharp'
import { button, openPage } from '../../../support/console/hands.ts'
import { eventually } from '../../../support/eventually.ts'
import { CLIENT, storedFile, type Tour } from './tour.ts'

/** A width and a format in the playground, saved as a preset that URLs can use. */
export async function savePreset(tour: Tour): Promise<void> {
  const { page } = tour
  await openPage(page, 'Playground')
  await page.getByRole('button', { name: /^pier\.jpg/ }).click()
  await page.getByRole('spinbutton', { name: 'Value of w', exact: true }).fill('120')
  await page.getByRole('combobox', { name: 'Value of f', exact: true }).click()
  await page.getByRole('option', { name: 'webp', exact: true }).click()
  for (const fact of ['WEBP', '120 × 90']) await page.getByText(fact, { exact: true }).waitFor()
  await button(page, 'Save as preset').click()
  const dialog = page.getByRole('dialog', { name: 'Save as preset' })
  await dialog.getByText('f=webp').waitFor()
  await dialog.getByLabel('Name', { exact: true }).fill('card')
  await button(dialog, 'Save').click()
  await page.getByText('Preset card saved').waitFor()

  await button(page, 'Presets').click()
  await button(page, 'Apply card').click()
  const url = page.getByRole('region', { name: 'URL', exact: true })
  await url.getByText('?preset=card').waitFor()
  const { src } = await storedFile(tour, 'pier.jpg')
  expect(await url.innerText()).to.equal(`${src}?preset=card`)
  const response = await fetch(`${src}?preset=card`)
  expect([response.status, response.headers.get('content-type')]).to.deep.equal([200, 'image/webp'])
  const { width, height } = await sharp(await response.arrayBuffer()).metadata()
  expect([width, height]).to.deep.equal([120, 90])
}

/** The numbers of the page Usage, before and after further deliveries. */
export async function readUsage(tour: Tour): Promise<void> {
  const { page } = tour
  const { src, size } = await storedFile(tour, 'pier.jpg')
  await openPage(page, 'Usage')
  const row = page.getByRole('row', { name: new RegExp(CLIENT) })
  // Stored, deliveries.
  const cell = (at: number) => row.getByRole('cell').nth(at).innerText()
  const deliveries = async () => Number(await cell(3))
  expect(await cell(2)).to.match(/^\d+(\.\d)? kB$/)
  const before = await deliveries()
  expect(before).to.be.above(0)
  for (let i = 0; i < 5; i += 1) expect((await (await fetch(src)).arrayBuffer()).byteLength).to.equal(size)
  await eventually(async () => {
    await page.reload()
    await row.waitFor()
    expect(await deliveries()).to.be.at.least(before + 5)
  })
}
