import { rm } from 'node:fs/promises'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { createShutdown } from '../../../src/process/web/shutdown.ts'
import { eventually } from '../../support/eventually.ts'
import { startNginxProgram } from '../../support/peers/nginx-program.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { freePort } from '../../support/servers/free-port.ts'
import { type RunningServer, startProcess } from '../../support/servers/process.ts'
import { itLong } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const TOKENS = { CLIENT_TOKEN: 'client-token', SECRET_CLIENT_TOKEN: 'secret-client-token' }

describe('SIGTERM', () => {
  const folders: string[] = []
  const servers: RunningServer[] = []
  afterEach(async () => {
    for (const { child, ended } of servers.splice(0)) {
      child.kill('SIGKILL')
      await ended
    }
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true })
  })

  async function start(delaySeconds: number): Promise<RunningServer> {
    const dataDir = await temporaryFolder()
    folders.push(dataDir)
    const env = { ...TOKENS, DATA_DIR: dataDir, SHUTDOWN_DELAY_SECONDS: String(delaySeconds) }
    const server = await startProcess({ env })
    servers.push(server)
    return server
  }

  /** A small upload over connections that are kept. @returns its status, or why there is none */
  function put(url: string, agent: Agent): Promise<{ outcome: number | string; connection?: string }> {
    return new Promise((resolve) => {
      const req = request(
        `${url}/v1/upload`,
        { agent, method: 'POST', headers: { Authorization: TOKENS.SECRET_CLIENT_TOKEN, ...FORM } },
        (res) => {
          const { connection = '' } = res.headers
          res.resume().once('end', () => resolve({ outcome: res.statusCode ?? 0, connection }))
        },
      )
      req.once('error', (error: NodeJS.ErrnoException) => resolve({ outcome: error.code ?? error.message }))
      req.end('--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\ntext\r\n--b--\r\n')
    })
  }
  const FORM = { 'Content-Type': 'multipart/form-data; boundary=b' }

  it('first fails /readyz, continues to answer all requests, and aborts none', async () => {
    // Long enough for a look at /readyz on a busy machine.
    const server = await start(3)
    const agent = new Agent({ keepAlive: true, maxSockets: 4 })
    expect(await put(server.url, agent)).to.deep.equal({ outcome: 200, connection: 'keep-alive' })
    server.child.kill('SIGTERM')
    await eventually(async () => {
      const ready = await fetch(`${server.url}/readyz`)
      expect([ready.status, ((await ready.json()) as { status: string }).status]).to.deep.equal([
        503,
        'stopping',
      ])
    })
    expect(await put(server.url, agent)).to.deep.equal({ outcome: 200, connection: 'keep-alive' })
    await uploadOne(server, { name: 'b.txt', bytes: 'b' })
    const outcomes = new Set<number | string>()
    const connections = new Set<string>()
    const load = async () => {
      for (let isOver = false; !isOver; ) {
        const { outcome, connection } = await put(server.url, agent)
        outcomes.add(outcome)
        if (connection !== undefined) connections.add(connection)
        isOver = outcome === 'ECONNREFUSED'
        // Many requests a second for as long as it answers, and no CPU time in between.
        await pause(10)
      }
    }
    await Promise.all([load(), load(), load(), load()])
    agent.destroy()
    expect([...outcomes].sort()).to.deep.equal([200, 'ECONNREFUSED'])
    expect([...connections].sort()).to.deep.equal(['close', 'keep-alive'])
    expect(await server.ended).to.equal(0)
  })

  itLong('loses no request behind nginx with keep-alive connections to two servers', async () => {
    const [staying, leaving] = [await start(1), await start(1)] as const
    const port = await freePort()
    const hostOf = ({ url }: RunningServer) => new URL(url).host
    const nginx = await startNginxProgram({
      port,
      http: `
        upstream sluice { server ${hostOf(staying)}; server ${hostOf(leaving)}; keepalive 16; }
        server {
          listen 127.0.0.1:${port};
          location / { proxy_pass http://sluice; proxy_http_version 1.1; proxy_set_header Connection ""; }
        }`,
    })
    const agent = new Agent({ keepAlive: true, maxSockets: 8 })
    const outcomes: Array<number | string> = []
    let isOver = false
    const load = async () => {
      for (; !isOver; await pause(10)) outcomes.push((await put(`http://127.0.0.1:${port}`, agent)).outcome)
    }
    try {
      const loads = Promise.all(Array.from({ length: 8 }, load))
      const answered = async (count: number) => {
        const most = outcomes.length + count
        await eventually(() => expect(outcomes.length).to.be.at.least(most))
      }
      await answered(16)
      leaving.child.kill('SIGTERM')
      expect(await leaving.ended).to.equal(0)
      await answered(16)
      isOver = true
      await loads
    } finally {
      isOver = true
      agent.destroy()
      await nginx.stop()
    }
    expect(outcomes.filter((outcome) => outcome !== 200)).to.deep.equal([])
  })

  it('answers on kept connections of a client that sends its next request only 600 ms later', async () => {
    const server = createServer((_, res) => {
      shutdown.mark(res)
      res.end()
    })
    const shutdown = createShutdown(server)
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    expect(await put(url, agent)).to.deep.equal({ outcome: 200, connection: 'keep-alive' })
    const stopped = shutdown.stop({ delayMs: 1, drainMs: 10_000 })
    // In one process, the order of the two timers does not depend on how busy the machine is.
    await pause(600)
    expect(await put(url, agent)).to.deep.equal({ outcome: 200, connection: 'close' })
    await stopped
    agent.destroy()
  })
})
