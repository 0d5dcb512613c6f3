import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { startPage } from '../../support/peers/browser-pages.ts'
import { PROJECT } from '../../support/service.ts'
import { bundled, type Site, startSite } from './page.ts'

const SCRIPT = `import { browserMemory } from './client/uploader.ts'
  Object.assign(window, { memory: browserMemory('one'), other: browserMemory('other') })`
const DAY_MS = 24 * 3_600_000

describe('what a browser stores of unfinished uploads', () => {
  let tab: Page
  let site: Site
  before(async () => {
    ;[tab, site] = await Promise.all([
      startPage(),
      bundled({ stdin: { contents: SCRIPT, resolveDir: PROJECT } }).then(startSite),
    ])
    site.pages.set('/', '')
    await open()
  })
  after(async () => {
    await tab.context().close()
    site.close()
  })

  /** Opens another page: what the page before has stored belongs to it no more. */
  async function open(): Promise<void> {
    await tab.goto(site.url)
    await tab.waitForFunction('window.memory')
  }
  const put = (id: string, { ageMs = 0, size = id.length, memory = 'memory' } = {}) =>
    tab.evaluate(`${memory}.put({
      id: '${id}', name: '${id}', size: ${size}, type: '', lastModified: 0, folder: '', isPaused: false,
      storedAt: Date.now() - ${ageMs}, file: new File(['${id}'], '${id}')
    })`)
  /** Names, and what is stored of each file. */
  const listed = () =>
    tab.evaluate(`memory.list().then((all) => Promise.all(all.map(
      async ({ name, file, isPaused }) => [name, await file?.text(), isPaused]
    )))`)

  it('is listed for a week, by the next page', async () => {
    await put('too old', { ageMs: 7 * DAY_MS + 60_000 })
    await put('of friday', { ageMs: 3 * DAY_MS })
    await put('paused')
    await tab.evaluate(`memory.setPaused('paused', true)`)
    await put('of another', { memory: 'other' })
    expect(await listed()).to.deep.equal([])
    await open()
    expect(await listed()).to.deep.equal([
      ['of friday', 'of friday', false],
      ['paused', 'paused', true],
    ])
    await tab.evaluate(`Promise.all([memory.delete('of friday'), memory.delete('paused')])`)
    await open()
    expect(await listed()).to.deep.equal([])
  })

  it('has no bytes of a file of more than 256 MiB', async () => {
    await put('large', { size: 256 * 1024 * 1024 + 1 })
    await open()
    expect(await listed()).to.deep.equal([['large', undefined, false]])
  })
})
