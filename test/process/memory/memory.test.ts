import { createHash, randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { Agent, get, type IncomingMessage } from 'node:http'
import { expect } from 'chai'
import sharp from 'sharp'
import { EMBEDDED } from '../../support/backend.ts'
import { S3_REDIS } from '../../support/backends.ts'
import { largeFile, MIB, peakBytes, uploadLarge } from '../../support/heavy.ts'
import { sampleOf } from '../../support/metrics.ts'
import { NO_LIMITS } from '../../support/no-limits.ts'
import { postZip, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { type RunningServer, startProcess } from '../../support/servers/process.ts'
import { itLong, sized } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

// Garbage is collected late beside other tests: 278 MB were seen.
const LIMIT_MIB = sized(350, 250)
const LIMIT_BYTES = LIMIT_MIB * MIB
// With the 80 MB of an idle process, more than it may ever have in memory.
const FILE_MIB = sized(320, 1024)
const ZIP_FILES = 100
const CLIENTS = 200
const METRICS_TOKEN = 'sixteen-letters-or-more'

// The client of S3 buffers what it sends and receives, more than a disk.
for (const backend of sized([S3_REDIS], [EMBEDDED, S3_REDIS]))
  describe(`memory (${backend.name})`, function () {
    this.timeout(900_000)
    let dataDir: string
    let server: RunningServer
    // One server for all tests: what it has at most, it must not have in any of them.
    before(async () => {
      dataDir = await temporaryFolder()
      // A proxy would be one more transformation.
      const own = { LOG_LEVEL: 'error', METRICS_TOKEN, PROXY_FROM_MEGAPIXELS: '0' }
      const env = { DATA_DIR: dataDir, ...own, ...NO_LIMITS }
      server = await startProcess({ env: { ...(await backend.env(dataDir)), ...env } })
    })
    after(async () => {
      server.child.kill('SIGTERM')
      await server.ended
      await rm(dataDir, { recursive: true, force: true })
    })

    it(`stays under ${LIMIT_MIB} MB while ${FILE_MIB} MiB are uploaded and delivered`, async () => {
      const file = largeFile(FILE_MIB)
      const record = await uploadLarge(server, file)
      expect(record.size).to.equal(FILE_MIB * MIB)
      expect(await peakBytes(server), 'while uploading').to.be.below(LIMIT_BYTES)

      const response = await responseTo(`${server.url}${new URL(record.src).pathname}`, new Agent())
      const digest = createHash('sha256')
      for await (const chunk of response) digest.update(chunk)
      expect(digest.digest('hex')).to.equal(file.digest())
      expect(await peakBytes(server), 'while delivering').to.be.below(LIMIT_BYTES)
    })

    const zip = async () => {
      const sources: WireRecord[] = []
      for (let i = 0; i < 2; i += 1) sources.push(await uploadLarge(server, largeFile(20)))
      const files = Array.from({ length: ZIP_FILES }, (_, i) => {
        const { sourceName = '', mimeType = '' } = sources[i % 2] ?? {}
        return { path: sourceName, type: mimeType, name: `${i}.bin` }
      })
      const response = await postZip(server, { files })
      expect(response.status).to.equal(200)
      let size = 0
      let end = Buffer.alloc(0)
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
        size += chunk.length
        end = Buffer.concat([end, chunk.subarray(-22)]).subarray(-22)
      }
      // The end of central directory record: its signature, and how many entries there are, the manifest included.
      expect([end.readUInt32LE(0), end.readUInt16LE(10)]).to.deep.equal([0x06054b50, ZIP_FILES + 1])
      expect(size).to.be.within(20 * ZIP_FILES * MIB, (20 * ZIP_FILES + 1) * MIB)
      expect(await peakBytes(server)).to.be.below(LIMIT_BYTES)
    }
    // Of archives: ../crash/archives.test.ts. Of readers of one derivative: ../../http/delivery/derivatives.test.ts.
    itLong(`stays under ${LIMIT_MIB} MB while ${ZIP_FILES} files of 20 MB are sent as a ZIP`, zip)

    itLong(
      `stays under ${LIMIT_MIB} MB when ${CLIENTS} clients request the same new derivative concurrently`,
      async () => {
        const { src } = await uploadOne(server, { name: 'photo.jpg', bytes: await noise(2600, 2000) })
        const agent = new Agent({ maxSockets: CLIENTS, keepAlive: false })
        const url = `${server.url}${new URL(src).pathname}?w=2000&f=png`
        // Nobody reads before all are being answered, so that nothing is over before the last has begun.
        const responses = await Promise.all(Array.from({ length: CLIENTS }, () => responseTo(url, agent)))
        const bodies = new Set<string>()
        for (const response of responses) {
          expect(response.statusCode).to.equal(200)
          const digest = createHash('sha256')
          for await (const chunk of response) digest.update(chunk)
          bodies.add(digest.digest('hex'))
        }
        expect(bodies).to.have.property('size', 1)
        const text = await metrics(server)
        expect(sampleOf(text, 'sluice_transform_duration_seconds_count')).to.equal(1)
        expect(await peakBytes(server)).to.be.below(LIMIT_BYTES)
      },
    )
  })

/** A JPEG that is as hard to compress as they come. */
async function noise(width: number, height: number): Promise<Buffer> {
  const raw = { width, height, channels: 3 as const }
  return sharp(randomBytes(width * height * 3), { raw })
    .jpeg()
    .toBuffer()
}

/** As soon as its headers are there. */
function responseTo(url: string, agent: Agent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, resolve).once('error', reject)
  })
}

async function metrics(server: RunningServer): Promise<string> {
  const headers = { Authorization: `Bearer ${METRICS_TOKEN}` }
  return String((await exchange(server, '/metrics', { headers })).body)
}
