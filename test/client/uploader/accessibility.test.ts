import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { eventually } from '../../support/eventually.ts'
import { startPage } from '../../support/peers/browser-pages.ts'
import { bundled, type Site, startSite, UPLOADER } from './page.ts'

const ELEMENT = `document.querySelector('sluice-uploader')`

/** What axe-core has found. */
interface Violation {
  id: string
  impact: string
  nodes: Array<{ target: unknown }>
}

describe('the accessibility of <sluice-uploader>', () => {
  let tab: Page
  let site: Site
  before(async () => {
    const bundle = bundled({ entryPoints: [UPLOADER] })
    ;[tab, site] = await Promise.all([startPage(), bundle.then(startSite)])
  })
  after(async () => {
    await tab.context().close()
    site.close()
  })

  afterEach(() => tab.emulateMedia({ reducedMotion: null }))

  let count = 0
  let release = () => {}
  /** Opens a page whose uploads do not end before the next page is opened. */
  async function open(attributes = 'multiple folder camera'): Promise<void> {
    // The browser may hold the requests of the previous page, and allows six to a server.
    release()
    const released = new Promise<never>((_, reject) => {
      release = () => reject(new Error('the page is closed'))
    })
    released.catch(() => {})
    site.link = ({ name }) => (name === 'refused.txt' ? Promise.reject(new Error('refused')) : released)
    count += 1
    site.pages.set(
      `/${count}`,
      `<h1>Upload</h1><label for="up">Documents</label>
       <sluice-uploader id="up" link-url="/link" resume-scope="${count}" ${attributes}></sluice-uploader>
       <a href="#">after it</a>`,
    )
    await tab.goto(`${site.url}/${count}`)
  }
  const add = (...names: string[]) =>
    tab.evaluate(`${ELEMENT}.queue.add(${JSON.stringify(names)}.map((name) => new File(['text'], name)))`)
  const statuses = async () =>
    Object.fromEntries(
      (await tab.evaluate(
        `${ELEMENT}.queue.getState().items.map(({ name, status }) => [name, status])`,
      )) as Array<[string, string]>,
    )
  /** The name of the focused control. */
  const focused = () =>
    tab.evaluate(`(() => {
      const inner = ${ELEMENT}.shadowRoot.activeElement
      return inner ? inner.ariaLabel ?? inner.textContent : document.activeElement.textContent
    })()`)
  const announced = () => tab.evaluate(`${ELEMENT}.shadowRoot.querySelector('[role=status]').textContent`)

  it('has controls in a sensible order for the Tab key', async () => {
    await open()
    await add('a.txt', 'b.txt')
    await eventually(async () =>
      expect(await statuses()).to.deep.equal({ 'a.txt': 'uploading', 'b.txt': 'uploading' }),
    )
    const order: unknown[] = []
    for (let i = 0; i < 10; i += 1) {
      await tab.keyboard.press('Tab')
      order.push(await focused())
    }
    expect(order).to.deep.equal([
      ...['Choose files', 'Choose a folder', 'Take a photo'],
      ...['Pause a.txt', 'Remove a.txt', 'Pause b.txt', 'Remove b.txt'],
      ...['Pause all', 'Clear', 'after it'],
    ])
  })

  it('opens the dialog for files by Enter and by Space', async () => {
    await open('')
    await tab.evaluate(`(() => {
      window.opened = 0
      HTMLInputElement.prototype.click = () => { opened += 1 }
    })()`)
    await tab.keyboard.press('Tab')
    for (const [presses, key] of ['Enter', ' '].entries()) {
      await tab.keyboard.press(key)
      expect(await tab.evaluate('opened'), key).to.equal(presses + 1)
    }
  })

  it('pauses by P and removes by Delete, and moves the focus to the next file', async () => {
    await open('multiple')
    await add('a.txt', 'b.txt')
    for (let i = 0; i < 2; i += 1) await tab.keyboard.press('Tab')
    expect(await focused()).to.equal('Pause a.txt')
    await tab.keyboard.press('p')
    expect(await statuses()).to.include({ 'a.txt': 'paused' })
    expect(await focused()).to.equal('Resume a.txt')
    expect(await announced()).to.equal('a.txt is paused.')
    await tab.keyboard.press('p')
    expect(await statuses()).to.include({ 'a.txt': 'uploading' })
    await tab.keyboard.press('ArrowDown')
    expect(await focused()).to.equal('Remove b.txt')
    await tab.keyboard.press('Delete')
    expect(await focused()).to.equal('Remove a.txt')
    await tab.keyboard.press('Delete')
    expect(await focused()).to.equal('Choose files')
    expect(await statuses()).to.deep.equal({})
    expect(await announced()).to.equal('a.txt is removed.')
  })

  it('announces added and failed files, with the reason', async () => {
    await open('multiple')
    await add('refused.txt')
    await eventually(async () =>
      expect(await announced()).to.equal('refused.txt failed. The upload failed. Retry.'),
    )
    await add('b.txt')
    await eventually(async () => expect(await announced()).to.equal('Added files: 1.'))
  })

  for (const scheme of ['light', 'dark'])
    it(`has no problem that axe-core finds, with a ${scheme} color scheme`, async () => {
      const path = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
      // Without motion, colors change at once.
      await tab.emulateMedia({ reducedMotion: 'reduce' })
      await open()
      await tab.evaluate(`document.documentElement.style.colorScheme = '${scheme}'`)
      await tab.evaluate(await readFile(path, 'utf8'))
      const check = async () => {
        const found = (await tab.evaluate(
          `axe.run('sluice-uploader', { resultTypes: ['violations'] }).then(({ violations }) => violations)`,
        )) as Violation[]
        return found.map(({ id, impact, nodes }) => `${impact}: ${id} ${JSON.stringify(nodes[0]?.target)}`)
      }
      expect(await check()).to.deep.equal([])
      await add('a.txt', 'refused.txt', 'paused.txt')
      await tab.evaluate(`${ELEMENT}.queue.pause(${ELEMENT}.queue.getState().items[2].id)`)
      await eventually(async () =>
        expect(await statuses()).to.deep.equal({
          'a.txt': 'uploading',
          'refused.txt': 'failed',
          'paused.txt': 'paused',
        }),
      )
      expect(await check()).to.deep.equal([])
    })

  it('moves nothing for people who prefer reduced motion', async () => {
    await open()
    await add('a.txt')
    await tab.emulateMedia({ reducedMotion: 'reduce' })
    await eventually(async () => {
      const duration = `getComputedStyle(${ELEMENT}.shadowRoot.querySelector('.bar')).transitionDuration`
      expect(await tab.evaluate(duration)).to.equal('0s')
    })
  })

  it('has its style in a page with a strict content security policy', async () => {
    site.policy = `default-src 'self'; img-src blob:; require-trusted-types-for 'script'`
    await open()
    await add('a.txt')
    const display = `getComputedStyle(${ELEMENT}.shadowRoot.querySelector('li')).display`
    expect(await tab.evaluate(display)).to.equal('grid')
    site.policy = ''
  })

  it('has replaceable texts', async () => {
    await open(`texts='{"chooseOne": "Datei auswählen"}'`)
    const button = `${ELEMENT}.shadowRoot.querySelector('button').textContent`
    expect(await tab.evaluate(button)).to.equal('Datei auswählen')
    await tab.evaluate(`${ELEMENT}.texts = { chooseOne: 'Choisir un fichier' }`)
    expect(await tab.evaluate(button)).to.equal('Choisir un fichier')
  })
})
