import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { onOneBackend } from '../support/backends.ts'
import { eventually } from '../support/eventually.ts'
import { picture } from '../support/media/images.ts'
import { dropFiles, startPage } from '../support/peers/browser-pages.ts'
import { installClient } from '../support/programs/client-package.ts'
import { freePort } from '../support/servers/free-port.ts'
import { PROJECT, type Service } from '../support/service.ts'

const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

onOneBackend('examples/express in Chromium', (start) => {
  let tab: Page
  let desk: string
  let example: ChildProcess
  let service: Service
  let url: string
  before(async () => {
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    const env = { WEBHOOK_URL: `${url}/hooks`, WEBHOOK_SECRET, WEBHOOK_ALLOW_ADDRESSES: '127.0.0.0/8' }
    ;[tab, desk, service] = await Promise.all([startPage(), installClient(), start({ env })])
    await cp(join(PROJECT, 'examples', 'express'), desk, { recursive: true })
    await symlink(join(PROJECT, 'node_modules', 'express'), join(desk, 'node_modules', 'express'))
    example = spawn(process.execPath, ['server.js'], {
      cwd: desk,
      env: {
        PORT: String(port),
        SLUICE_URL: service.url,
        SLUICE_SECRET: service.tokens.secretClientToken,
        WEBHOOK_SECRET,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(example.stdout as NonNullable<ChildProcess['stdout']>, 'data')
  })
  after(async () => {
    await tab.context().close()
    const closed = once(example, 'close')
    example.kill()
    await closed
    await rm(desk, { recursive: true })
  })

  /** Evaluates an expression until its value passes the check. Returns the value. */
  async function eventual(expression: string, check: (value: Record<string, string>) => void) {
    let value: Record<string, string> = {}
    await eventually(async () => {
      value = (await tab.evaluate(expression)) as typeof value
      check(value)
    })
    return value as { src: string }
  }

  it('shows a dropped photo in the width of its place, and the event of the upload', async () => {
    const photo = join(desk, 'red chair.png')
    await writeFile(photo, await picture({ width: 900, height: 600 }))
    await tab.setViewportSize({ width: 1000, height: 800 })
    await tab.goto(url)
    await dropFiles(tab, '.drop', [photo])
    const shown = `(() => {
      const text = (selector) => document.querySelector(selector)?.innerText ?? ''
      return {
        src: document.querySelector('.photos img')?.currentSrc ?? '',
        status: text('[role=status]'),
        events: text('.events'),
      }
    })()`
    const { src } = await eventual(shown, ({ src, status, events }) => {
      expect(status).to.equal('red chair.png is uploaded.')
      expect(src).to.match(/\?w=320&f=auto&ar=1:1$/)
      expect(events).to.match(/^original\.stored photos\/image\//m)
    })
    const { width, height } = await sharp(await (await fetch(src)).arrayBuffer()).metadata()
    expect([width, height]).to.deep.equal([320, 320])
    await tab.goto(`${url}/?again`)
    await eventual(shown, (again) => expect(again).to.include({ src, status: '' }))
  })

  it('states why a file is refused', async () => {
    const text = join(desk, 'notes.png')
    await writeFile(text, 'not an image')
    await tab.goto(`${url}/?refused`)
    await dropFiles(tab, '.drop', [text])
    await eventually(async () =>
      expect(await tab.evaluate(`document.querySelector('[role=status]').textContent`)).to.match(
        /^notes\.png: .*image\/\*/,
      ),
    )
  })

  it('refuses a webhook with a wrong signature', async () => {
    const headers = { 'Content-Type': 'application/json', 'webhook-id': 'a', 'webhook-signature': 'v1,AAAA' }
    const { status } = await fetch(`${url}/hooks`, { method: 'POST', headers, body: '{}' })
    expect(status).to.equal(401)
  })
})
