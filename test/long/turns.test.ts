import { rm } from 'node:fs/promises'
import type { ClientRequest } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { sluiceJson } from '../support/programs/cli.ts'
import { nestedUses } from '../support/requests/attacks.ts'
import { uploadOne } from '../support/requests/client.ts'
import { type RunningServer, startProcess } from '../support/servers/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { getFrom, onLoopback, photo } from './attack.ts'

const STRANGER = '127.0.0.2'
const NEWCOMER = '127.0.0.3'

// H4 of docs/explanation/security.md.
describe('long: a stranger who floods one client', function () {
  this.timeout(300_000)
  let dataDir: string
  let server: RunningServer
  let mine: string
  let attacked: { url: string; tokens: RunningServer['tokens'] }
  before(async () => {
    dataDir = await temporaryFolder()
    server = await startProcess({ env: { DATA_DIR: dataDir } })
    const bytes = await photo({ width: 4000, height: 3000 })
    mine = onLoopback((await uploadOne(server, { name: 'mine.jpg', bytes })).src, server.url)
    const tokens = await sluiceJson<RunningServer['tokens']>(['client', 'create'], { DATA_DIR: dataDir })
    attacked = { url: server.url, tokens }
  })
  after(async () => {
    server.child.kill('SIGTERM')
    await server.ended
    await rm(dataDir, { recursive: true, force: true })
  })

  /** Seconds that a newcomer waits for new pictures during a flood, and milliseconds for a health check. */
  async function during(urls: readonly string[], widths: readonly number[]) {
    const sent: ClientRequest[] = []
    const answers = urls.map((url) => getFrom(STRANGER, url, (req) => sent.push(req)).catch(() => 0))
    await pause(1000)
    const health: number[] = []
    let isOver = false
    const checking = (async () => {
      for (; !isOver; await pause(20)) {
        const asked = performance.now()
        await getFrom(NEWCOMER, `${server.url}/healthz`)
        health.push(performance.now() - asked)
      }
    })()
    const seconds: number[] = []
    for (const width of widths) {
      const asked = performance.now()
      expect(await getFrom(NEWCOMER, `${mine}?w=${width}`)).to.equal(200)
      seconds.push((performance.now() - asked) / 1000)
      await pause(500)
    }
    isOver = true
    await checking
    for (const req of sent) req.destroy()
    await Promise.all(answers)
    health.sort((a, b) => a - b)
    const p99 = health[Math.floor(health.length * 0.99)] ?? 0
    return { slowest: Math.max(...seconds), p99 }
  }

  it('delays a new derivative of another client by less than three seconds with a hundred expensive images', async () => {
    const { src } = await uploadOne(attacked, {
      name: 'other.jpg',
      bytes: await photo({ width: 4000, height: 3000 }),
    })
    const url = onLoopback(src, server.url)
    const urls = Array.from({ length: 100 }, (_, i) => `${url}?f=gif&w=${2300 + i}`)
    const { slowest, p99 } = await during(urls, [300, 301, 302, 303, 304])
    expect(slowest).to.be.below(3)
    expect(p99).to.be.below(100)
  })

  it('delays it by less than eight seconds with two hundred hostile SVGs', async () => {
    const urls: string[] = []
    for (let i = 0; i < 200; i += 1) {
      // Each other bytes: what fails is remembered.
      const bytes = Buffer.concat([nestedUses(8), Buffer.from(`<!--${i}-->`)])
      const { src } = await uploadOne(attacked, { name: 'laughs.svg', bytes })
      urls.push(`${onLoopback(src, server.url)}?w=${2300 + i}`)
    }
    const { slowest, p99 } = await during(urls, [310, 311, 312, 313, 314])
    expect(slowest).to.be.below(8)
    expect(p99).to.be.below(100)
  })
})
