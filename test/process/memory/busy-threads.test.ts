import { rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import sharp from 'sharp'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { type RunningServer, startProcess } from '../../support/servers/process.ts'
import { sized } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

// More than any machine that runs the tests makes at once, of a tenth of a second each.
const TRANSFORMS = sized(6, 12)

describe('threads of libuv', function () {
  this.timeout(120_000)
  let dataDir: string
  let server: RunningServer
  before(async () => {
    dataDir = await temporaryFolder()
    // The fewest that leave one to files: what there is to share is soon used up.
    const env = { DATA_DIR: dataDir, LOG_LEVEL: 'error', UV_THREADPOOL_SIZE: '2' }
    server = await startProcess({ env })
  })
  after(async () => {
    server.child.kill('SIGTERM')
    await server.ended
    await rm(dataDir, { recursive: true, force: true })
  })

  it('are left to files while the maximum of transformations runs', async () => {
    const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const
    const create = { width: 1400, height: 933, channels: 3, background: '#888', noise } as const
    const photo = await uploadOne(server, { name: 'a.jpg', bytes: await sharp({ create }).jpeg().toBuffer() })
    const text = await uploadOne(server, { name: 'a.txt', bytes: Buffer.from('stored') })
    const [large, small] = [photo, text].map(({ src }) => new URL(src).pathname)
    let left = TRANSFORMS
    const made = Array.from({ length: TRANSFORMS }, async (_, i) => {
      expect((await exchange(server, `${large}?w=${1390 - i}&f=png`)).status).to.equal(200)
      left -= 1
    })
    let delivered = 0
    while (left > 0) {
      expect(String((await exchange(server, `${small}`)).body)).to.equal('stored')
      delivered += 1
      await pause(5)
    }
    await Promise.all(made)
    // Without a thread, each would wait for a transformation.
    expect(delivered).to.be.above(4 * TRANSFORMS)
  })
})
