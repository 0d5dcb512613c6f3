import { createHash, randomBytes } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { expect } from 'chai'
import { EMBEDDED } from '../support/backend.ts'
import { S3_REDIS } from '../support/backends.ts'
import type { WireRecord } from '../support/client.ts'
import { type RunningServer, startProcess } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const MIB = 1024 * 1024
const LIMIT_BYTES = 250 * MIB

for (const backend of [EMBEDDED, S3_REDIS])
  describe(`memory (${backend.name})`, function () {
    this.timeout(180_000)
    let dataDir: string
    let server: RunningServer
    beforeEach(async () => {
      dataDir = await temporaryFolder()
      server = await startProcess({
        env: { ...(await backend.env(dataDir)), DATA_DIR: dataDir, LOG_LEVEL: 'error' },
      })
    })
    afterEach(async () => {
      server.child.kill('SIGTERM')
      await server.ended
      await rm(dataDir, { recursive: true, force: true })
    })

    it('stays under 250 MB while 1 GiB is uploaded and delivered', async () => {
      const file = gibibyte()
      const record = await upload(server, file)
      expect(record.size).to.equal(1024 * MIB)
      expect(await peakBytes(server), 'while uploading').to.be.below(LIMIT_BYTES)

      const response = await fetch(`${server.url}${new URL(record.src).pathname}`)
      const digest = createHash('sha256')
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) digest.update(chunk)
      expect(digest.digest('hex')).to.equal(file.digest())
      expect(await peakBytes(server), 'while delivering').to.be.below(LIMIT_BYTES)
    })
  })

/** 1 GiB that compresses to nothing, and its digest once it has been read. */
function gibibyte(): { chunks: () => Iterable<Buffer>; digest: () => string } {
  const block = randomBytes(MIB)
  const hash = createHash('sha256')
  let digest = ''
  return {
    *chunks() {
      for (let i = 0; i < 1024; i += 1) {
        block.writeUInt32BE(i, 0)
        hash.update(block)
        yield Buffer.from(block)
      }
      digest = hash.digest('hex')
    },
    digest: () => digest,
  }
}

async function upload(
  { url, tokens }: RunningServer,
  file: ReturnType<typeof gibibyte>,
): Promise<WireRecord> {
  const boundary = 'sluice-test'
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="big.bin"\r\n\r\n`
  function* body() {
    yield Buffer.from(head)
    yield* file.chunks()
    yield Buffer.from(`\r\n--${boundary}--\r\n`)
  }
  const req = request(`${url}/v1/upload`, {
    method: 'POST',
    headers: {
      Authorization: tokens.secretClientToken,
      'Content-Type': `multipart/form-data; boundary=${boundary}`,
    },
  })
  const answered = new Promise<string>((resolve, reject) => {
    req.once('error', reject).once('response', async (res) => {
      let text = ''
      for await (const chunk of res) text += chunk
      resolve(text)
    })
  })
  await pipeline(Readable.from(body(), { objectMode: false }), req)
  const [record] = JSON.parse(await answered) as WireRecord[]
  if (!record) throw new Error('the upload answered no record')
  return record
}

/** The most that the process has had in memory at any time: proc(5), VmHWM. */
async function peakBytes({ pid }: RunningServer): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024
}
