import { randomBytes } from 'node:crypto'
import { on } from 'node:events'
import { rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import sharp from 'sharp'
import { EMBEDDED } from '../support/backend.ts'
import { S3_EMBEDDED } from '../support/backends.ts'
import { residentBytes } from '../support/heavy.ts'
import { NO_LIMITS } from '../support/no-limits.ts'
import { uploadOne, type WireRecord } from '../support/requests/client.ts'
import { freePort } from '../support/servers/free-port.ts'
import { type RunningServer, startProcess } from '../support/servers/process.ts'
import { noise } from '../support/stored/noise.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import type { ProbeData, ProbeResult } from './health-probe.ts'

const MIB = 1024 ** 2

// On a machine that does other work, each of some turns of the event loop takes as much longer as a timer comes late.
const HEALTH_MS = 100
// Connections to S3 hold buffers of their own: the HTTP client reads ahead what the gateway sends.
const MORE_ON_S3_MB = 80
const LATE_TURNS = 5

// A thread does not inherit what mocha loads TypeScript with.
const PROBE = `
import('tsx/esm/api').then(({ tsImport }) =>
  tsImport(${JSON.stringify(join(import.meta.dirname, 'health-probe.ts'))}, ${JSON.stringify(import.meta.url)}))`

// H3 of docs/explanation/security.md.
for (const { name, env } of [EMBEDDED, S3_EMBEDDED])
  describe(`long: clients that request and do not read (${name})`, function () {
    this.timeout(240_000)
    const more = name === EMBEDDED.name ? 0 : MORE_ON_S3_MB
    let dataDir: string
    let server: RunningServer
    let metricsPort: number
    const sockets: Socket[] = []
    beforeEach(async () => {
      dataDir = await temporaryFolder()
      metricsPort = await freePort()
      server = await startProcess({
        env: {
          ...NO_LIMITS,
          ...(await env(dataDir)),
          DATA_DIR: dataDir,
          LOG_LEVEL: 'warn',
          METRICS_PORT: String(metricsPort),
        },
      })
    })
    afterEach(async () => {
      leave()
      server.child.kill('SIGTERM')
      await server.ended
      await rm(dataDir, { recursive: true, force: true })
    })

    function send(request: string): void {
      const { hostname, port } = new URL(server.url)
      const socket = connect({ host: hostname, port: Number(port) })
      // Its answer waits in the kernel's buffers and in the server.
      socket.on('error', () => {}).pause()
      socket.write(request)
      sockets.push(socket)
    }
    const get = ({ src }: WireRecord, query = '') =>
      send(`GET ${new URL(src).pathname}${query} HTTP/1.1\r\nHost: x\r\n\r\n`)
    function leave(): void {
      for (const socket of sockets.splice(0)) socket.destroy()
    }

    /** The most megabytes that it has had in this time. */
    async function mostWithin(milliseconds: number): Promise<number> {
      let most = 0
      for (const end = performance.now() + milliseconds; performance.now() < end; await pause(250))
        most = Math.max(most, await residentBytes(server))
      return most / MIB
    }

    /** Sends health checks from now on. @returns a function that ends it, with the longest that they took */
    async function probe(): Promise<() => Promise<ProbeResult>> {
      const workerData: ProbeData = { url: server.url, ownUrl: `http://127.0.0.1:${metricsPort}` }
      const worker = new Worker(PROBE, { eval: true, workerData })
      // What loads TypeScript sends messages of its own.
      const first = async (isIt: (message: unknown) => boolean): Promise<unknown> => {
        for await (const [message] of on(worker, 'message')) if (isIt(message)) return message
        return undefined
      }
      await first((message) => message === 'ready')
      return async () => {
        const result = first((message) => Object.hasOwn(Object(message), 'keptMs'))
        worker.postMessage('end')
        return (await result) as ProbeResult
      }
    }

    /** Of a health check. */
    async function milliseconds(): Promise<number> {
      const startedAt = performance.now()
      await (await fetch(`${server.url}/healthz`)).text()
      return performance.now() - startedAt
    }

    it(`leave the process below ${320 + more} MB with 2,000 requests for a large file, and it is freed afterwards`, async () => {
      const record = await uploadOne(server, { name: 'a.bin', bytes: noise(8 * MIB) })
      const worstHealth = await probe()
      for (let i = 0; i < 2000; i += 1) get(record)
      const most = await mostWithin(20_000)
      const health = await worstHealth()
      leave()
      await pause(30_000)
      const after = (await residentBytes(server)) / MIB
      console.log(`      ${JSON.stringify({ health, most: Math.round(most), after: Math.round(after) })}`)
      expect(most).to.be.below(320 + more)
      expect(after).to.be.below(220 + more)
      // On S3 the gateway and its disk take the same cores: see docs/explanation/slow-readers.md.
      if (name !== EMBEDDED.name) return
      const mostMs = HEALTH_MS + LATE_TURNS * health.lateMs
      expect(health.keptMs).to.be.below(mostMs)
      expect(health.ownMs).to.be.below(mostMs)
    })

    it('leave the process below 260 MB with 60 new derivatives of 5 MB', async () => {
      const grain = { type: 'gaussian', mean: 128, sigma: 40 } as const
      const bytes = await sharp({
        create: { width: 1900, height: 1000, channels: 3, background: '#888', noise: grain },
      })
        .jpeg({ quality: 92 })
        .toBuffer()
      const record = await uploadOne(server, { name: 'noise.jpg', bytes })
      for (let i = 0; i < 60; i += 1) get(record, `?f=png&w=${1899 - i}`)
      expect(await mostWithin(60_000)).to.be.below(260)
      expect(await milliseconds()).to.be.below(100)
    })

    it(`leave the process below ${260 + more} MB with 200 archives`, async () => {
      const records = []
      for (let i = 0; i < 4; i += 1)
        records.push(await uploadOne(server, { name: `${i}.gif`, bytes: gif(i < 2 ? MIB / 2 : 8 * MIB) }))
      const files = records.map(({ sourceName }) => ({ path: sourceName, type: 'image' }))
      const body = JSON.stringify({ files })
      for (let i = 0; i < 200; i += 1)
        send(
          `POST /v1/zip HTTP/1.1\r\nHost: x\r\nAuthorization: ${server.tokens.secretClientToken}\r\n` +
            `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        )
      expect(await mostWithin(20_000)).to.be.below(260 + more)
      expect(await milliseconds()).to.be.below(100)
    })
  })

/** Bytes that archives store as they are. */
function gif(length: number): Buffer {
  const bytes = randomBytes(length)
  bytes.write('GIF89a')
  return bytes
}
