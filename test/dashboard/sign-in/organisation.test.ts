import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { firstOwner } from '../../support/console/browser.ts'
import { startIssuer } from '../../support/console/issuer.ts'
import { seriousFindings } from '../../support/peers/axe.ts'
import { type Pages, startPages } from '../../support/peers/browser-pages.ts'
import type { Service } from '../../support/service.ts'

const LABEL = 'Sign in with "Acme" <Identity> & Co'

onOneBackend('the console of an organisation', (start) => {
  let issuer: Awaited<ReturnType<typeof startIssuer>>
  let service: Service
  let pages: Pages
  before(async () => {
    issuer = await startIssuer()
    service = await start({ env: { ...issuer.env, OIDC_LABEL: LABEL } })
    await issuer.serve(service.url)
    await firstOwner(service)
    pages = await startPages()
  })
  after(async () => {
    await pages.stop()
    await issuer.stop()
  })
  afterEach(() => pages.closeAll())

  it('signs a person in at the issuer, shows the page that was opened, and signs out of both', async function () {
    this.timeout(120_000)
    issuer.people.ada = { email: 'ada@example.com', name: 'Ada Lovelace', groups: ['sluice-admins'] }
    const { page, errors } = await pages.open()
    await page.goto(`${service.url}/dashboard/members`)
    await page.getByRole('link', { name: LABEL }).click()
    await page.getByPlaceholder('Enter any login').fill('ada')
    await page.getByPlaceholder('and password').fill('any')
    await page.getByRole('button', { name: 'Sign-in' }).click()
    await page.getByRole('heading', { name: 'Members', level: 1 }).waitFor()
    expect(new URL(page.url()).pathname).to.equal('/dashboard/members')
    await page.getByRole('cell', { name: 'Ada Lovelace You Organisation' }).waitFor()
    await page.getByRole('button', { name: 'Actions for Ada Lovelace' }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).waitFor()
    expect(await page.getByRole('menuitem', { name: /link/ }).count()).to.equal(0)
    await page.keyboard.press('Escape')
    await page.goto(`${service.url}/dashboard/account`)
    await page.getByRole('heading', { name: 'Profile' }).waitFor()
    expect(await page.getByLabel('New password').count()).to.equal(0)
    await page.getByRole('button', { name: /^Account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: /yes/i }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(new URL(page.url()).pathname).to.equal('/dashboard/sign-in')
    // The page of the issuer names a font of another server.
    expect(errors.filter((error) => !/401|ERR_NAME_NOT_RESOLVED/.test(error))).to.deep.equal([])
  })

  it('explains a refusal, and fits on a phone', async function () {
    this.timeout(120_000)
    for (const [width, height] of [
      [390, 844],
      [1440, 900],
    ] as const) {
      const { page } = await pages.open({ viewport: { width, height } })
      await page.goto(`${service.url}/dashboard/sign-in`)
      await page.getByRole('link', { name: LABEL }).waitFor()
      await page.goto(`${service.url}/dashboard/sign-in?refused=role&from=%2Fmembers`)
      await page.getByText('Your account has no role in this console.').waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(width)
      expect(await seriousFindings(page), `${width} px`).to.deep.equal([])
      const href = await page.getByRole('link', { name: LABEL }).getAttribute('href')
      expect(href).to.equal(`${service.url}/v1/session/oidc?from=%2Fmembers`)
    }
  })
})
