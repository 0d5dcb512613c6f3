import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { browser, firstOwner, newMember, PASSWORD } from '../../support/console/browser.ts'
import { seriousFindings } from '../../support/peers/axe.ts'
import { type Pages, startPages } from '../../support/peers/browser-pages.ts'
import type { Service } from '../../support/service.ts'

const EMAIL = 'owner@example.com'

onOneBackend('the console with passkeys', (start) => {
  let service: Service
  let pages: Pages
  /** Passkeys are for a host name, so not for 127.0.0.1. */
  let url: string
  before(async () => {
    service = await start()
    url = service.url.replace('127.0.0.1', 'localhost')
    const owner = await firstOwner(service)
    await newMember(service, owner, { email: 'grace@example.com', role: 'viewer' })
    pages = await startPages()
  })
  after(() => pages.stop())

  it('adds a passkey, removes the password, and signs in without an email address', async function () {
    this.timeout(180_000)
    const { page, errors } = await pages.open()
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('WebAuthn.enable')
    const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    await page.goto(`${url}/dashboard/sign-in?from=%2Faccount`)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor()
    await page.getByLabel('Email').fill(EMAIL)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()

    await page.getByText('You have no passkeys.').waitFor()
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Key of the test')
    await page.getByRole('dialog').getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText('Not used yet').waitFor()

    await page.getByRole('button', { name: 'Sign in only with passkeys' }).click()
    await page.getByRole('dialog').getByLabel('Current password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Remove password' }).click()
    await page.getByText('Your last passkey cannot be removed while you have no password.').waitFor()
    expect((await browser(service).signIn(EMAIL)).status).to.equal(401)

    await page.getByRole('button', { name: /^Account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByRole('heading', { name: 'Files', level: 1 }).waitFor()
    await page.goto(`${url}/dashboard/members`)
    await page.getByRole('cell', { name: 'Ada You No password' }).waitFor()
    await page.goto(`${url}/dashboard/account`)
    await page.getByText(/Last used/).waitFor()
    expect(await page.getByLabel('Current password').count()).to.equal(0)
    expect(await seriousFindings(page)).to.deep.equal([])
    expect(errors).to.deep.equal([])

    // As if the sign-in were more than ten minutes old.
    const old = { status: 403, code: 'sign_in_again', detail: 'Sign in again.' }
    await page.route(
      '**/v1/session/passkeys/options',
      (route) =>
        route.fulfill({ status: 403, contentType: 'application/problem+json', body: JSON.stringify(old) }),
      { times: 1 },
    )
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await dialog.getByRole('button', { name: 'Add a passkey' }).click()
    await dialog.getByRole('button', { name: 'Confirm with a passkey' }).click()
    await dialog.getByText('Confirmed.').waitFor()
    await dialog.getByRole('button', { name: 'Add a passkey' }).click()
    await dialog
      .getByText('This device or password manager has a passkey for your account already.')
      .waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()

    // Back to a password, with which the passkey is removed below.
    await page.getByLabel('New password').fill(`${PASSWORD}!`)
    await page.getByRole('button', { name: 'Set a password' }).click()
    await page.getByLabel('Current password', { exact: true }).waitFor()

    // A passkey of which the person was not verified.
    await page.getByRole('button', { name: /^Account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByText('This was canceled, or this device has no passkey for it.').waitFor()

    await page.getByLabel('Email').fill(EMAIL)
    await page.getByLabel('Password', { exact: true }).fill(`${PASSWORD}!`)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'Files', level: 1 }).waitFor()
    await page.goto(`${url}/dashboard/account`)
    await page.getByRole('button', { name: 'Remove the passkey Key of the test' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('You have no passkeys.').waitFor()
    expect(await seriousFindings(page)).to.deep.equal([])
    await page.close()
  })
})
