import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { type Backend, EMBEDDED } from '../../support/backend.ts'
import { S3_REDIS } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { MIB, openFiles, peakBytes } from '../../support/heavy.ts'
import { NO_LIMITS } from '../../support/no-limits.ts'
import { uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { type RunningServer, startProcess } from '../../support/servers/process.ts'
import { sized } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

// Less than half of what the archives hold, and than one large source of each. Garbage is collected late beside other tests:
// 278 MB were seen, and up to 235 MB alone.
const LIMIT_MIB = 400
const LARGE_MIB = 60
const ARCHIVES = 10
const FILES = 100

// The idle connections to S3 that are reused: as many for calls, and as many for downloads.
const BACKENDS: ReadonlyArray<readonly [backend: Backend, calls: number]> = [
  [EMBEDDED, 0],
  [S3_REDIS, 64],
]

for (const [backend, calls] of sized(BACKENDS.slice(0, 1), BACKENDS))
  describe(`archives that are not read by their clients (${backend.name})`, function () {
    this.timeout(120_000)
    let dataDir: string
    let server: RunningServer
    let large: WireRecord
    let small: WireRecord
    before(async () => {
      dataDir = await temporaryFolder()
      const env = { ...(await backend.env(dataDir)), ...NO_LIMITS, LOG_LEVEL: 'error' }
      server = await startProcess({ env: { ...env, DATA_DIR: dataDir } })
      large = await uploadOne(server, { name: 'large.gif', bytes: gifOf(LARGE_MIB * MIB) })
      // As large as those that are read ahead may be, and nothing that deflates.
      small = await uploadOne(server, { name: 'small.gif', bytes: gifOf(MIB) })
      expect(small).to.include({ size: MIB, format: 'gif' })
    })
    after(async () => {
      server.child.kill('SIGTERM')
      await server.ended
      await rm(dataDir, { recursive: true, force: true })
    })

    async function archive({ sourceName, mimeType }: WireRecord): Promise<IncomingMessage> {
      const files = Array.from({ length: FILES }, () => ({ path: sourceName, type: mimeType }))
      const sent = request(`${server.url}/v1/zip`, {
        method: 'POST',
        headers: { Authorization: server.tokens.secretClientToken, 'Content-Type': 'application/json' },
        agent: false,
      })
      sent.on('error', () => {}).end(JSON.stringify({ files }))
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      expect(response.statusCode).to.equal(200)
      return response.on('error', () => {})
    }

    for (const [what, record, sources] of [
      ['large', () => large, 1],
      ['small', () => small, 4],
    ] as const) {
      it(`keep few files open and use less than ${LIMIT_MIB} MB: ten of 100 ${what} files each`, async () => {
        const before = await openFiles(server)
        const responses = await Promise.all(Array.from({ length: ARCHIVES }, () => archive(record())))
        let most = 0
        for (const end = Date.now() + 3000; Date.now() < end; await pause(20))
          most = Math.max(most, await openFiles(server))
        // A connection each, and a source: the large one that is written, or the small ones that are read ahead. Idle connections
        // to S3, which were counted before, may have been closed in the meantime.
        expect(most - before).to.be.at.most(ARCHIVES * (1 + sources) + calls + 2)
        expect(await peakBytes(server)).to.be.below(LIMIT_MIB * MIB)
        for (const response of responses) response.destroy()
        await eventually(async () => expect(await openFiles(server)).to.be.at.most(before + 2 * calls))
      })
    }
  })

/** Noise behind the first bytes of a GIF. */
function gifOf(size: number): Buffer {
  return Buffer.concat([Buffer.from('GIF89a', 'latin1'), randomBytes(size - 6)])
}
