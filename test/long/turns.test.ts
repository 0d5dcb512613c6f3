import { rm } from 'node:fs/promises'
import type { ClientRequest } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { sluiceJson } from '../support/cli.ts'
import { uploadOne } from '../support/client.ts'
import { type RunningServer, startProcess } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { getFrom, onLoopback, photo } from './attack.ts'

// H4 of docs/explanation/security.md.
describe('long: a stranger who asks for a hundred dear pictures of one client', function () {
  this.timeout(300_000)
  let dataDir: string
  before(async () => {
    dataDir = await temporaryFolder()
  })
  after(() => rm(dataDir, { recursive: true, force: true }))

  it('does not keep a new picture of another client for ten seconds', async () => {
    const server = await startProcess({ env: { DATA_DIR: dataDir } })
    const bytes = await photo({ width: 4000, height: 3000 })
    const mine = await uploadOne(server, { name: 'mine.jpg', bytes })
    const env = { DATA_DIR: dataDir }
    const tokens = await sluiceJson<RunningServer['tokens']>(['client', 'create'], env)
    const attacked = await uploadOne({ url: server.url, tokens }, { name: 'other.jpg', bytes })
    const sent: ClientRequest[] = []
    const url = onLoopback(attacked.src, server.url)
    for (let w = 2300; w < 2400; w += 1)
      getFrom('127.0.0.2', `${url}?f=gif&w=${w}`, (req) => sent.push(req)).catch(() => {})
    await pause(1000)
    const asked = performance.now()
    const status = await getFrom('127.0.0.3', `${onLoopback(mine.src, server.url)}?w=300`)
    const seconds = (performance.now() - asked) / 1000
    for (const req of sent) req.destroy()
    server.child.kill('SIGTERM')
    await server.ended
    expect(status).to.equal(200)
    expect(seconds).to.be.below(10)
  })
})
