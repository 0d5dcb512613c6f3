import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { onOneBackend } from '../support/backends.ts'
import { PASSWORD } from '../support/console/browser.ts'
import { seriousFindings } from '../support/peers/axe.ts'
import { type Pages, startPages } from '../support/peers/browser-pages.ts'
import { startSubPath } from '../support/peers/sub-path.ts'
import type { Service } from '../support/service.ts'
import { itLong, sized } from '../support/sized.ts'

const EMAIL = 'ada@example.com'

onOneBackend('the console', (start) => {
  let service: Service
  let pages: Pages
  before(async () => {
    service = await start()
    pages = await startPages()
  })
  after(() => pages.stop())
  afterEach(() => pages.closeAll())

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

  async function signIn(page: Page, password = PASSWORD): Promise<void> {
    await page.getByLabel('Email').fill(EMAIL)
    await page.getByLabel('Password', { exact: true }).fill(password)
    await button(page, 'Sign in').click()
  }

  it('creates the first owner by a link that works once', async function () {
    this.timeout(120_000)
    const link = service.app.firstVisit() ?? ''
    const { page, errors } = await pages.open()
    await page.goto(link)
    await button(page, 'Create account').click()
    await page.getByText('The password needs at least 10 characters.').waitFor()
    await page.getByLabel('Email').fill(EMAIL)
    await page.getByLabel('Name').fill('Ada Lovelace')
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByLabel('Repeat the password', { exact: true }).fill(PASSWORD)
    await button(page, 'Create account').click()
    await page.getByRole('heading', { name: 'Files', level: 1 }).waitFor()
    expect(new URL(page.url()).pathname).to.equal('/dashboard/c/first/files')
    expect(errors).to.deep.equal([])

    const other = await pages.open()
    await other.page.goto(link)
    await other.page.getByRole('heading', { name: 'This link has expired' }).waitFor()
  })

  it('signs in on the page that was opened, and refuses a wrong password', async function () {
    this.timeout(120_000)
    const { page } = await pages.open()
    await page.goto(`${service.url}/dashboard/members`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await signIn(page, 'a wrong password')
    await page.getByText('The email address or the password is wrong.').waitFor()
    await signIn(page)
    await page.getByRole('cell', { name: EMAIL }).waitFor()
    expect(new URL(page.url()).pathname).to.equal('/dashboard/members')
  })

  itLong('continues what an expired session has interrupted', async function () {
    this.timeout(120_000)
    const { page } = await pages.open()
    await page.goto(`${service.url}/dashboard/members`)
    await signIn(page)
    await button(page, 'Invite a member').click()
    await page.getByLabel('Email').fill('bob@example.com')
    await page.context().clearCookies()
    await button(page, 'Create invitation').click()
    const dialog = page.getByRole('dialog', { name: 'Your session has expired' })
    await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    const link = await page.getByRole('dialog', { name: 'Send this link' }).locator('code').innerText()
    expect(link).to.match(/\/dashboard\/welcome#\S+$/)

    const invited = await pages.open()
    await invited.page.goto(link)
    await invited.page.getByRole('heading', { name: 'Accept your invitation' }).waitFor()
    expect(await invited.page.getByLabel('Email').inputValue()).to.equal('bob@example.com')
  })

  it('opens menus, dialogs, lists and commands under the policy of the page', async function () {
    this.timeout(120_000)
    const { page, errors } = await pages.open()
    await page.goto(`${service.url}/dashboard/members`)
    await signIn(page)
    await button(page, 'Actions for Ada Lovelace').click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    await page.getByRole('combobox', { name: 'Role' }).click()
    await page.getByRole('option', { name: 'Owner' }).click()
    expect(await seriousFindings(page), 'a dialog').to.deep.equal([])
    await button(page, 'Save').click()
    await page.getByText('Changes saved').waitFor()
    // Styled by its own file: the policy refuses the styles that sonner would insert.
    const toaster = await page.evaluate(
      `getComputedStyle(document.querySelector('[data-sonner-toaster]')).position`,
    )
    expect(toaster).to.equal('fixed')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search or run a command' }).fill('audit')
    await page.keyboard.press('Enter')
    await page.getByRole('cell', { name: 'Ada Lovelace changed a member' }).first().waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('g')
    await page.keyboard.press('f')
    await page.getByRole('heading', { name: 'Files', level: 1 }).waitFor()
    expect(errors.filter((error) => !error.includes('401'))).to.deep.equal([])
  })

  itLong('shows the stored theme at the first paint, before its own script runs', async function () {
    this.timeout(120_000)
    const { page } = await pages.open({ colorScheme: 'light' })
    // Modules run after the first paint.
    await page.route(/\/assets\/index-.*\.js$/, (route) => route.abort())
    const background = async () => {
      await page.goto(`${service.url}/dashboard/sign-in`)
      return page.evaluate('getComputedStyle(document.body).backgroundColor')
    }
    expect(await background()).to.equal('rgb(247, 248, 248)')
    await page.evaluate(`localStorage.setItem('sluice-theme', 'dark')`)
    expect(await background()).to.equal('rgb(12, 14, 17)')
    await page.context().close()
  })

  itLong('works below a path of a proxy', async function () {
    this.timeout(120_000)
    const proxy = await startSubPath(service.url)
    const { page, errors } = await pages.open()
    try {
      await page.goto(`${proxy.url}/dashboard/audit`)
      await signIn(page)
      await page.getByRole('cell', { name: 'Ada Lovelace signed in' }).first().waitFor()
      await page.getByRole('link', { name: 'Trash' }).click()
      await page.getByRole('heading', { name: 'Trash', level: 1 }).waitFor()
      expect(page.url()).to.equal(`${proxy.url}/dashboard/c/first/trash`)
      await page.reload()
      await page.getByRole('heading', { name: 'Trash', level: 1 }).waitFor()
      expect(errors.filter((error) => !error.includes('401'))).to.deep.equal([])
    } finally {
      await proxy.stop()
    }
  })

  const screens = [[390, 'dark'] as const, [1440, 'light'] as const]
  for (const [width, colorScheme] of screens.slice(0, sized(1, 2)))
    it(`is usable by screen readers, at ${width} px in ${colorScheme} colours`, async function () {
      this.timeout(120_000)
      const { page, errors } = await pages.open({ colorScheme, viewport: { width, height: 844 } })
      await page.goto(`${service.url}/dashboard/sign-in`)
      await page.getByLabel('Email').waitFor()
      expect(await seriousFindings(page)).to.deep.equal([])
      await signIn(page)
      await page.getByRole('heading', { name: 'Files', level: 1 }).waitFor()
      for (const path of sized(['account'], ['account', 'members'])) {
        await page.goto(`${service.url}/dashboard/${path}`)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page.waitForLoadState('networkidle')
        expect(await seriousFindings(page), path).to.deep.equal([])
        expect(await page.evaluate('document.documentElement.scrollWidth'), path).to.be.at.most(width)
      }
      // The first request of the session is a 401.
      expect(errors.filter((error) => !error.includes('401'))).to.deep.equal([])
    })
})
