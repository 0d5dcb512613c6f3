import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import { type HttpRequest, Upload } from 'tus-js-client'
import { eventually } from '../support/eventually.ts'
import type { WireRecord } from '../support/requests/client.ts'
import { exchange } from '../support/requests/exchange.ts'
import { begin, offsetAt, patch, recordIn } from '../support/requests/tus.ts'
import { newFleet } from '../support/servers/fleet.ts'
import { freePort } from '../support/servers/free-port.ts'
import { type RunningServer, startProcess } from '../support/servers/process.ts'
import { itLong, sized } from '../support/sized.ts'
import { noise } from '../support/stored/noise.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const MIB = 1024 ** 2
// A start of the built server takes two seconds, on a machine with nothing else to do.
const RETRIES = [500, 1000, 1000, 1000, 2000, 2000, 2000, 5000, 5000, 5000]

interface Kind {
  name: string
  /** Starts a server on this port, and again after it was killed. */
  open(port: number): Promise<{ start(): Promise<RunningServer>; end(): Promise<void> }>
}

const KINDS: Kind[] = [
  {
    name: 'disk, embedded',
    async open(port) {
      const folder = await temporaryFolder()
      const env = { DATA_DIR: folder, PORT: String(port) }
      return { start: () => startProcess({ env }), end: () => rm(folder, { recursive: true, force: true }) }
    },
  },
  {
    name: 'S3, Redis',
    async open(port) {
      const fleet = await newFleet()
      return { start: () => fleet.start({ env: { PORT: String(port) } }), end: () => fleet.end() }
    },
  },
]

for (const { name, open } of KINDS.slice(0, sized(1, 2)))
  it(`a server killed in the middle of an upload is restarted, and tus-js-client resumes (${name})`, async function () {
    this.timeout(120_000)
    const { start, end } = await open(await freePort())
    let server = await start()
    const { tokens } = server
    try {
      const bytes = noise(48 * MIB)
      const offsets: number[] = []
      let again: Promise<void> | undefined
      const restart = async () => {
        server.child.kill('SIGKILL')
        await server.ended
        server = await start()
      }
      const record = await new Promise<WireRecord>((resolve, reject) => {
        const upload = new Upload(bytes, {
          endpoint: `${server.url}/v1/tus`,
          headers: { Authorization: tokens.secretClientToken },
          retryDelays: RETRIES,
          // The second request is under way when the server is killed. On a busy machine, it may have arrived by then.
          chunkSize: 24 * MIB,
          onBeforeRequest(request: HttpRequest) {
            if (request.getMethod() === 'PATCH') offsets.push(Number(request.getHeader('Upload-Offset')))
          },
          onProgress(sent) {
            if (sent > 32 * MIB) again ??= restart()
          },
          onError: reject,
          onSuccess: ({ lastResponse }) =>
            resolve(JSON.parse(lastResponse.getHeader('Upload-Record') ?? '[]')[0]),
        })
        upload.start()
      })
      await again
      // Of what was sent until then, the last pieces were under way.
      expect(offsets.length).to.be.greaterThan(1)
      expect(offsets.at(-1)).to.be.within(1, 44 * MIB)
      expect((await exchange(server, new URL(record.src).pathname)).body.equals(bytes)).to.equal(true)
    } finally {
      server.child.kill('SIGKILL')
      await server.ended
      await end()
    }
  })

/** These bytes, and then nothing, and no end. */
function hanging(bytes: Buffer): Readable {
  const stream = new Readable({ read() {} })
  stream.push(bytes)
  return stream
}

describe('a resumable upload with two processes', () => {
  itLong(
    'is written by one process at a time, resumes at the other, and becomes one original',
    async function () {
      this.timeout(120_000)
      const fleet = await newFleet({ files: 'disk' })
      try {
        const [one, other] = await Promise.all([fleet.start(), fleet.start()])
        const bytes = noise(16 * MIB)
        const address = await begin(one, bytes.length)
        const at = ({ url }: RunningServer) => `${url}${new URL(address).pathname}`
        // This one hangs, and its process knows nothing of it.
        const hung = patch(one, at(one), {
          offset: 0,
          headers: { 'Content-Length': bytes.length },
          body: hanging(bytes.subarray(0, 10 * MIB)),
        }).catch(() => undefined)
        // A look at the offset ends it: a first piece has to be stored before.
        const pieces = async () => (await fleet.state()).files.filter((key) => key.includes('/tus/pieces/'))
        await eventually(async () => expect(await pieces()).not.to.deep.equal([]))
        const offset = await offsetAt(other, at(other))
        expect(offset).to.be.within(1, 10 * MIB)
        const rest = bytes.subarray(offset)
        const answers = await Promise.all(
          [one, other, one, other].map((server) => patch(server, at(server), { offset, body: rest })),
        )
        const done = answers.filter(({ status }) => status === 204)
        for (const { status } of answers) expect(status).to.be.oneOf([204, 409, 423])
        const complete = done.filter(({ headers }) => headers['upload-record'])
        expect(complete).not.to.deep.equal([])
        const keys = new Set(complete.map((answer) => recordIn(answer).s3PathOriginal))
        expect(keys).to.have.lengthOf(1)
        const record = recordIn(complete[0] as (typeof complete)[0])
        const { body } = await exchange(other, new URL(record.src).pathname)
        expect(body.equals(bytes)).to.equal(true)
        const { files } = await fleet.state()
        expect(files.filter((key) => !key.includes('.sluice'))).to.have.lengthOf(1)
        expect(await pieces()).to.deep.equal([])
        await hung
      } finally {
        await fleet.end()
      }
    },
  )
})
