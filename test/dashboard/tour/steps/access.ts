import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { browser, PASSWORD } from '../../../support/console/browser.ts'
import { button, drop, openPage, signIn, uploadRate } from '../../../support/console/hands.ts'
import { eventually } from '../../../support/eventually.ts'
import { ask } from '../../../support/requests/ask.ts'
import { listAll } from '../../../support/stored/files.ts'
import { CLIENT, EMAIL, storedFile, type Tour } from './tour.ts'

// Three chunks of a resumable upload.
const LARGE_BYTES = 20_000_000
// Ten seconds, of which the test waits for one.
const SLOW_BYTES_PER_SECOND = 2_000_000

/** The first visit: the link of the log, and a password. */
export async function firstVisit({ service, page }: Tour): Promise<void> {
  await page.goto(service.app.firstVisit() ?? '')
  await page.getByRole('heading', { name: 'Set up your account' }).waitFor()
  await page.getByLabel('Email').fill(EMAIL)
  await page.getByLabel('Name').fill('Ada Lovelace')
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByLabel('Repeat the password', { exact: true }).fill(PASSWORD)
  await button(page, 'Create account').click()
  await page.getByRole('heading', { name: 'Files', level: 1 }).waitFor()
  await page.getByText('No files yet').waitFor()
  expect(service.app.firstVisit()).to.equal(undefined)
}

/** A new client, whose secret is shown once, and its trash. */
export async function createClient(tour: Tour): Promise<void> {
  const { service, page } = tour
  await openPage(page, 'Clients')
  await button(page, 'Create client').click()
  const dialog = page.getByRole('dialog', { name: 'Create client' })
  await dialog.getByLabel(/^Name/).fill(CLIENT)
  await button(dialog, 'Create client').click()
  const secretClientToken = await issuedSecret(tour)
  await page.getByRole('link', { name: CLIENT }).click()
  await page.getByRole('heading', { name: CLIENT, level: 1 }).waitFor()
  const clientToken = await page.getByRole('tabpanel').locator('code').first().innerText()
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
  tour.client = { id, url: service.url, tokens: { clientToken, secretClientToken } }
  expect(await page.content()).not.to.contain(secretClientToken)
  expect(await statusWith(tour, secretClientToken)).to.equal(200)

  await page.getByRole('tab', { name: 'Rules' }).click()
  await page.getByLabel('Soft delete, in seconds').fill('3600')
  await button(page, 'Save rules').click()
  await page.getByText('Changes saved').waitFor()
  await page.getByRole('link', { name: 'Open files' }).click()
  await page.getByRole('heading', { name: 'No files yet' }).waitFor()
}

/** The old secret remains valid for the chosen time, or is revoked at once. */
export async function rotateSecret(tour: Tour): Promise<void> {
  const { page, client } = tour
  await openPage(page, 'Clients')
  await page.getByRole('link', { name: CLIENT }).click()
  const first = client.tokens.secretClientToken
  const second = await rotate(tour, '1 hour')
  await page.getByText(/^Replaced secrets remain valid until /).waitFor()
  expect([await statusWith(tour, first), await statusWith(tour, second)]).to.deep.equal([200, 200])

  const third = await rotate(tour, 'No time: it is revoked at once')
  expect(await statusWith(tour, second), 'the second secret').to.equal(401)
  expect(await statusWith(tour, third), 'the third secret').to.equal(200)
  await page.getByText(/^Replaced secrets remain valid until /).waitFor({ state: 'detached' })
  expect(await statusWith(tour, first), 'the first secret').to.equal(401)
  tour.client = { ...client, tokens: { ...client.tokens, secretClientToken: third } }
}

async function rotate(tour: Tour, overlap: string): Promise<string> {
  const { page } = tour
  await button(page, 'Rotate secret').click()
  const dialog = page.getByRole('dialog', { name: `Rotate the secret of ${CLIENT}?` })
  await dialog.getByRole('combobox', { name: 'The old secret stays valid for' }).click()
  await page.getByRole('option', { name: overlap }).click()
  await button(dialog, 'Rotate secret').click()
  return issuedSecret(tour)
}

/** The secret in the dialog that shows it once. */
async function issuedSecret({ page }: Tour): Promise<string> {
  const dialog = page.getByRole('dialog', { name: `Secret token of ${CLIENT}` })
  const secret = await dialog.locator('code').innerText()
  await button(dialog, 'I have stored it').click()
  await dialog.waitFor({ state: 'detached' })
  return secret
}

const statusWith = async ({ client }: Tour, secret: string) =>
  (await ask(client, '/v1/files?limit=1', { secret })).status

/** The sign-out, a wrong password, and the right one. */
export async function signOutAndIn({ page }: Tour): Promise<void> {
  await page.getByRole('button', { name: /^Account: Ada Lovelace/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await signIn(page, { email: EMAIL, password: 'three wrong words' })
  await page.getByRole('alert').getByText('The email address or the password is wrong.').waitFor()
  expect(new URL(page.url()).pathname).to.equal('/dashboard/sign-in')
  await signIn(page, {})
  // The client that was shown last.
  await page.getByRole('button', { name: `Client: ${CLIENT}` }).waitFor()
  await page.getByRole('heading', { name: 'Files', level: 1 }).waitFor()
}

/** A session that another device ends while a file is being sent: the upload waits for the password, and finishes. */
export async function sessionEndsDuringUpload(tour: Tour): Promise<void> {
  const { service, page } = tour
  const elsewhere = browser(service)
  await elsewhere.signIn(EMAIL)
  const limit = await uploadRate(page)
  await limit(SLOW_BYTES_PER_SECOND)
  const bytes = Buffer.alloc(LARGE_BYTES / 100, 'a long recording ')
  await drop(page, [{ name: 'night.bin', type: 'application/octet-stream', bytes, times: 100 }])
  const bar = page.getByRole('progressbar', { name: 'Upload of night.bin' })
  await eventually(async () => expect(Number(await bar.getAttribute('data-value'))).to.be.above(5))

  expect((await elsewhere.send('DELETE', '/v1/session?everywhere=1')).status).to.equal(204)
  await limit(-1)
  const dialog = page.getByRole('dialog', { name: 'Your session has expired' })
  await dialog.waitFor()
  // The dialog hides the panel from screen readers.
  await page.getByText('Waits for your sign-in').waitFor()
  expect(await listAll(tour.client, 'search=night')).to.deep.equal([])
  await signIn(dialog, {})
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('heading', { name: '1 file uploaded' }).waitFor()
  const { sha256 } = await storedFile(tour, 'night.bin')
  const content = Buffer.concat(Array(100).fill(bytes))
  expect(sha256).to.equal(createHash('sha256').update(content).digest('hex'))
  await button(page.getByRole('region', { name: 'Upload', exact: true }), 'Close').click()
}
