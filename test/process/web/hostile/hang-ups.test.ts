import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { eventually } from '../../../support/eventually.ts'
import { openFiles } from '../../../support/heavy.ts'
import { picture } from '../../../support/media/images.ts'
import { NO_LIMITS } from '../../../support/no-limits.ts'
import { type Caller, uploadOne, type WireRecord } from '../../../support/requests/client.ts'
import { openSocket } from '../../../support/requests/exchange.ts'
import { type RunningServer, startProcess } from '../../../support/servers/process.ts'
import { sized } from '../../../support/sized.ts'
import { noise } from '../../../support/stored/noise.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const MIB = 1024 * 1024
// Of each kind of request: a few dozen GETs are enough to end a server that opens files for those who have left.
const TRIES = sized(12, 150)
const AT_ONCE = 8

/** Makes the bytes of the nth request. */
type Requests = (n: number) => string | Buffer

describe('clients that disconnect', () => {
  let dataDir: string
  let server: RunningServer
  let large: WireRecord
  let photo: WireRecord
  before(async () => {
    dataDir = await temporaryFolder()
    const env = { DATA_DIR: dataDir, LOG_LEVEL: 'error', ...NO_LIMITS }
    server = await startProcess({ env })
    large = await uploadOne(server, { name: 'large.bin', bytes: noise(8 * MIB) })
    photo = await uploadOne(server, { name: 'photo.png', bytes: await picture() })
  })
  after(async () => {
    server.child.kill('SIGTERM')
    await server.ended
    await rm(dataDir, { recursive: true, force: true })
  })

  const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`
  const kinds: Record<string, () => Requests> = {
    'a large original': () => () => get(pathOf(large)),
    'a small original': () => () => get(pathOf(photo)),
    'a part of one': () => () => get(pathOf(large), 'Range: bytes=1000-6000000\r\n'),
    'the raw object': () => () => get(new URL(large.originalSrc).pathname),
    'a derivative that is stored': () => () => get(`${pathOf(photo)}?w=50`),
    'derivatives that have to be made': () => (n) => get(`${pathOf(photo)}?w=${100 + n}`),
    'headers alone': () => () => get(pathOf(large)).replace('GET', 'HEAD'),
    'many requests on one connection': () => () => get(pathOf(large)).repeat(20),
    'an archive': () => {
      const files = [large, photo, large].map(({ sourceName, mimeType }) => ({
        path: sourceName,
        type: mimeType,
      }))
      return () => post(server, '/v1/zip', 'application/json', JSON.stringify({ files }))
    },
    'half an upload': () => {
      const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n'
      const whole = post(server, '/v1/upload', 'multipart/form-data; boundary=b', [
        head,
        randomBytes(MIB),
        '\r\n--b--\r\n',
      ])
      return (n) => whole.subarray(0, Math.floor((whole.length * (n + 1)) / (TRIES + 1)))
    },
  }

  for (const [what, requests] of Object.entries(kinds)) {
    it(`${what}: the process continues, and every file is closed`, async () => {
      const before = await openFiles(server)
      await hangUps(server, requests()).catch((error) => {
        throw new Error(server.output(), { cause: error })
      })
      const response = await fetch(`${server.url}${pathOf(large)}`)
      expect((await response.arrayBuffer()).byteLength).to.equal(large.size)
      await eventually(async () => expect(await openFiles(server)).to.be.at.most(before))
      // To leave is no fault of the server's.
      expect(server.output()).to.not.include('"level":50')
    })
  }
})

function pathOf({ src }: WireRecord): string {
  return new URL(src).pathname
}

function post({ tokens }: Caller, path: string, type: string, parts: string | (string | Buffer)[]): Buffer {
  const body = Buffer.concat([parts].flat().map((part) => Buffer.from(part)))
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    `Authorization: ${tokens.secretClientToken}`,
    `Content-Type: ${type}`,
    `Content-Length: ${body.length}`,
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body])
}

/** Sends each request on a connection of its own and hangs up: at once, a little later, or after the first bytes. */
async function hangUps(server: RunningServer, requests: Requests): Promise<void> {
  let n = 0
  const worker = async () => {
    while (n < TRIES) {
      const i = n++
      const socket = await openSocket(server)
      socket.on('error', () => {})
      socket.write(requests(i))
      await moment(socket, i)
      // A reset and an orderly end reach the server in different ways.
      if (i % 2 === 0) socket.resetAndDestroy()
      else socket.destroy()
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

/** From at once to 12 ms later, by which time an answer is under way; every fourth as soon as its first bytes come. */
async function moment(socket: Socket, n: number): Promise<void> {
  if (n % 4 === 3) await Promise.race([once(socket, 'data').catch(() => {}), pause(50)])
  else await pause(Math.floor(n / 4) % 13)
}
