import { rm } from 'node:fs/promises'
import { expect } from 'chai'
import { EMBEDDED } from '../../support/backend.ts'
import { S3_REDIS } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { MIB, openFiles, peakBytes, residentBytes } from '../../support/heavy.ts'
import { NO_LIMITS } from '../../support/no-limits.ts'
import { mixedRequests, REQUESTS_PER_FILE } from '../../support/requests/mixed-requests.ts'
import { type RunningServer, startProcess } from '../../support/servers/process.ts'
import { itLong } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const LIMIT_BYTES = 250 * MIB
// Six are usual. 4 KB that every request leaves behind are 20 in 5,000.
const GROWTH_BYTES = 20 * MIB
// Connections that clients and storage keep for their next request; what 125 files leave behind would be more.
const MORE_FILES = 50
// On a busy machine, the heap may reach its usual size only after the first half. A leak grows in every round.
const ROUNDS = 3
const HALF = 5000

// In `npm test`, ../web/hostile/mutated-requests.test.ts sees files that remain open, and large leaks.
for (const backend of [EMBEDDED, S3_REDIS])
  describe(`memory in the long run (${backend.name})`, function () {
    this.timeout(900_000)
    let dataDir: string
    let server: RunningServer
    beforeEach(async () => {
      dataDir = await temporaryFolder()
      const env = { DATA_DIR: dataDir, LOG_LEVEL: 'error', ...NO_LIMITS }
      server = await startProcess({ env: { ...(await backend.env(dataDir)), ...env } })
    })
    afterEach(async () => {
      server.child.kill('SIGTERM')
      await server.ended
      await rm(dataDir, { recursive: true, force: true })
    })

    itLong(
      `is not higher after ${2 * HALF} mixed requests than after ${HALF}, and no more files are open`,
      async () => {
        await mixedRequests(server, HALF / REQUESTS_PER_FILE)
        const files = await openFiles(server)
        let grown = Number.POSITIVE_INFINITY
        for (let round = 0; round < ROUNDS && grown >= GROWTH_BYTES; round += 1) {
          const bytes = await residentBytes(server)
          await mixedRequests(server, HALF / REQUESTS_PER_FILE)
          grown = (await residentBytes(server)) - bytes
        }
        expect(grown).to.be.below(GROWTH_BYTES)
        await eventually(async () => expect(await openFiles(server)).to.be.below(files + MORE_FILES))
        expect(await peakBytes(server)).to.be.below(LIMIT_BYTES)
        // Refusals and clients that leave are no fault of the service.
        expect(server.output()).to.not.include('"level":50')
      },
    )
  })
