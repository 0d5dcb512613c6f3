import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, cp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { startPage } from '../support/peers/browser-pages.ts'
import { PROJECT } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const TYPES: Record<string, string> = { html: 'text/html', js: 'text/javascript', css: 'text/css' }

// The build takes 10 s on two idle cores, and 40 s on busy ones.
describe('long: npm run docs', function () {
  this.timeout(300_000)
  /** A copy of the pages: a build of the project itself would write into its folder. */
  let copy: string
  let site: string
  let printed: string
  before(async () => {
    copy = await temporaryFolder()
    const top = (await readdir(PROJECT)).filter((file) =>
      /^package.json$|\.md$|^LICENSE$|^\.env\.example$/.test(file),
    )
    // npm installs VitePress into the copy.
    const filter = (path: string) => basename(path) !== 'node_modules'
    for (const path of ['docs', ...top])
      await cp(join(PROJECT, path), join(copy, path), { recursive: true, filter })
    site = join(copy, 'docs', '.vitepress', 'dist')
    await rm(site, { recursive: true, force: true })
    const { status, stdout, stderr } = build()
    printed = stdout + stderr
    expect(status, printed).to.equal(0)
  })
  after(() => rm(copy, { recursive: true, force: true }))

  function build() {
    const { PATH = '' } = process.env
    return spawnSync('npm', ['run', 'docs'], { cwd: copy, env: { PATH }, encoding: 'utf8' })
  }

  const pagesIn = async (folder: string, extension: string) =>
    (await readdir(folder, { recursive: true }))
      .filter((file) => file.endsWith(extension) && !file.startsWith('.vitepress'))
      .map((file) => file.slice(0, -extension.length))
      .sort()

  it('builds each page, without warnings', async () => {
    // npm itself warns of settings of the machine.
    expect(printed.replace(/^npm warn .*$/gm, '')).not.to.match(/warn|\(!\)/i)
    const pages = await pagesIn(join(copy, 'docs'), '.md')
    expect(pages).to.have.length.above(60)
    expect(await pagesIn(join(site, 'docs'), '.html')).to.deep.equal(pages)
  })

  it('lists each page in the sidebar by its first heading', async () => {
    const home = await readFile(join(site, 'index.html'), 'utf8')
    for (const page of await pagesIn(join(copy, 'docs'), '.md')) {
      const [, heading = ''] =
        /^# +(.+)$/m.exec(await readFile(join(copy, 'docs', `${page}.md`), 'utf8')) ?? []
      const links = home.matchAll(new RegExp(`href="/docs/${page}\\.html"[^>]*>(.*?)</a>`, 'g'))
      const texts = [...links].map(([, link = '']) => link.replace(/<[^>]*>/g, ''))
      expect(texts, page).to.include(heading.replaceAll('`', ''))
    }
  })

  it('finds an error code by search, and requests nothing from another server', async () => {
    const server = await serve(site)
    let tab: Page | undefined
    try {
      tab = await startPage()
      const { port } = server.address() as AddressInfo
      await tab.goto(`http://127.0.0.1:${port}/`)
      expect(await tab.evaluate(searchFor('too_many_jobs'))).to.include('/docs/reference/errors.html')
      const loaded = `performance.getEntriesByType('resource').map(({ name }) => new URL(name).host)`
      expect(new Set((await tab.evaluate(loaded)) as string[])).to.deep.equal(new Set([`127.0.0.1:${port}`]))
    } finally {
      await tab?.context().close()
      server.close()
      server.closeAllConnections()
    }
  })

  it('refuses a link to a page that does not exist', async () => {
    await appendFile(join(copy, 'docs', 'how-to', 'zip.md'), '\n[no page](no-page.md)\n')
    const { status, stdout, stderr } = build()
    expect(status).to.equal(1)
    expect(stdout + stderr).to.match(/dead link .*no-page in file docs\/how-to\/zip\.md/)
  })
})

async function serve(folder: string): Promise<Server> {
  const server = createServer((req, res) => {
    const path = req.url === '/' ? '/index.html' : (req.url ?? '').replace(/\?.*/, '')
    readFile(join(folder, path)).then(
      (bytes) =>
        res.setHeader('Content-Type', TYPES[path.split('.').at(-1) ?? ''] ?? 'font/woff2').end(bytes),
      () => res.writeHead(404).end(),
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server
}

/** Waits for the page, types into its search field, and returns the paths of the results. */
function searchFor(words: string): string {
  return `(async () => {
    const found = async (selector) => {
      for (let i = 0; i < 300; i += 1) {
        const element = document.querySelector(selector)
        if (element) return element
        await new Promise((done) => setTimeout(done, 100))
      }
      throw new Error('not found: ' + selector + ' at ' + location.href)
    }
    // The button works once the scripts of the page run.
    for (let i = 0; i < 100 && !document.querySelector('.VPLocalSearchBox'); i += 1) {
      document.querySelector('#local-search button')?.click()
      await new Promise((done) => setTimeout(done, 100))
    }
    const field = await found('.VPLocalSearchBox input')
    field.value = ${JSON.stringify(words)}
    field.dispatchEvent(new Event('input', { bubbles: true }))
    await found('.VPLocalSearchBox .result')
    const results = [...document.querySelectorAll('.VPLocalSearchBox .result')]
    return results.map(({ href }) => new URL(href).pathname)
  })()`
}
