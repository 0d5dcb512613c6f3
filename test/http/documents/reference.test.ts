import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { onOneBackend } from '../../support/backends.ts'
import { startPage } from '../../support/peers/browser-pages.ts'
import { startSubPath } from '../../support/peers/sub-path.ts'
import { exchange } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'

onOneBackend('GET /docs/api', (start) => {
  let service: Service
  before(async () => {
    service = await start()
  })

  it('allows no inline scripts, and nothing from other servers', async () => {
    const { status, headers, body } = await exchange(service, '/docs/api')
    expect(status).to.equal(200)
    const policy = String(headers['content-security-policy'])
    expect(policy)
      .to.include("default-src 'none'")
      .and.include("script-src 'self';")
      .and.include("connect-src 'self'")
    expect(headers).to.include({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' })
    expect(body.toString()).not.to.match(/(src|href)="(https?:)?\//)
    expect(body.toString()).not.to.match(/<script>|\son\w+=/)
  })

  it('serves its own files only', async () => {
    for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js', 'start.js'])
      expect((await exchange(service, `/docs/api/${file}`)).status, file).to.equal(200)
    for (const file of ['package.json', '..%2fpackage.json', 'absolute-path.js'])
      expect((await exchange(service, `/docs/api/${file}`)).status, file).to.equal(404)
    expect((await exchange(service, '/docs/api', { method: 'POST' })).status).to.equal(405)
  })

  itLong('does not scroll sideways, on a phone or on a wide screen', async function () {
    this.timeout(180_000)
    const tab = await startPage()
    try {
      for (const width of [390, 1440]) {
        await tab.setViewportSize({ width, height: 844 })
        await tab.goto(`${service.url}/docs/api`)
        const seen = await tab.evaluate(`(async () => {
          const until = async (find) => {
            for (let i = 0; i < 1500; i += 1) {
              const found = find()
              if (found) return found
              await new Promise((done) => setTimeout(done, 100))
            }
            throw new Error('not shown: ' + document.body.innerText.slice(0, 500))
          }
          for (const id of ['Files-listFiles', 'Clients-updateClient']) {
            const operation = await until(() => document.querySelector('#operations-' + id))
            operation.querySelector('button').click()
            await until(() => operation.querySelector('.responses-table'))
          }
          return document.documentElement.scrollWidth
        })()`)
        expect(seen, `${width}`).to.be.at.most(width)
      }
    } finally {
      await tab.context().close()
    }
  })

  it('shows all endpoints and sends requests, below a path of a proxy', async function () {
    this.timeout(180_000)
    const { url, stop } = await startSubPath(service.url)
    let tab: Page | undefined
    try {
      tab = await startPage()
      await tab.goto(`${url}/docs/api`)
      const seen = (await tab.evaluate(`(async () => {
        const until = async (find) => {
          for (let i = 0; i < 1500; i += 1) {
            const found = find()
            if (found) return found
            await new Promise((done) => setTimeout(done, 100))
          }
          throw new Error('not shown: ' + document.body.innerText.slice(0, 500))
        }
        const health = await until(() => document.querySelector('#operations-Service-getHealth'))
        health.querySelector('button').click()
        const execute = await until(() => health.querySelector('.execute'))
        execute.click()
        const table = await until(() => health.querySelector('.live-responses-table .response .response-col_status'))
        return {
          status: table.innerText.trim().slice(0, 3),
          operations: document.querySelectorAll('.opblock').length,
          loaded: performance.getEntriesByType('resource').map(({ name }) => name),
        }
      })()`)) as { status: string; operations: number; loaded: string[] }
      expect(seen.operations).to.be.above(50)
      expect(
        seen.loaded.filter((name) => !name.startsWith(`${url}/`) && !name.startsWith('data:')),
      ).to.deep.equal([])
      expect(seen.loaded).to.include(`${url}/healthz`)
      expect(seen.status).to.equal('200')
    } finally {
      await tab?.context().close()
      await stop()
    }
  })
})
