import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { pluginFolder } from '../../support/drop-ins.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { type Fleet, newFleet } from '../../support/servers/fleet.ts'
import { type RunningServer, runToEnd } from '../../support/servers/process.ts'
import { childrenOf, isRunning, untilEnded } from '../../support/servers/processes.ts'
import { s3Server } from '../../support/servers/s3-server.ts'

const MIB = 1024 * 1024

describe('several web processes', function () {
  this.timeout(60_000)
  let fleet: Fleet
  beforeEach(async () => {
    fleet = await newFleet({ files: 'disk', env: { WEB_CONCURRENCY: '2', LOG_LEVEL: 'info' } })
  })
  afterEach(() => fleet.end())

  /** Asks on connections of their own until each of these processes has answered. */
  const untilAllAnswer = async (server: RunningServer, pids: readonly number[]) =>
    eventually(
      async () => {
        const { status } = await exchange(server, '/healthz', { headers: { Connection: 'close' } })
        expect(status).to.equal(200)
        expect(answeredBy(server)).to.include.members([...pids])
      },
      { withinMs: 20_000 },
    )

  it('listen on one port, and print one banner', async () => {
    const server = await fleet.start({ env: { WEB_CONCURRENCY: '3' } })
    const workers = await childrenOf(server.pid)
    expect(workers).to.have.length(3)
    await untilAllAnswer(server, workers)
    expect(server.output().match(/Sluice is ready/g)).to.have.length(1)
    const record = await uploadOne(server, { name: 'a.png', bytes: await picture() })
    expect(record.src).to.include(`http://localhost:${new URL(server.url).port}/`)
  })

  it('leave no connection open when one of them is killed', async () => {
    const server = await fleet.start()
    let asking = true
    const outcomes = new Set<string>()
    const ask = async () => {
      while (asking) {
        const answer = fetch(`${server.url}/healthz`, {
          headers: { Connection: 'close' },
          signal: AbortSignal.timeout(5000),
        })
        outcomes.add(
          await answer.then(
            ({ status }) => String(status),
            ({ name }) => name,
          ),
        )
      }
    }
    const askers = Array.from({ length: 8 }, ask)
    for (let kills = 0; kills < 2; kills += 1) {
      const [victim = 0] = await childrenOf(server.pid)
      process.kill(victim, 'SIGKILL')
      await untilEnded([victim])
      await eventually(async () => expect(await childrenOf(server.pid)).to.have.length(2), {
        withinMs: 10_000,
      })
      await pause(500)
    }
    asking = false
    await Promise.all(askers)
    // Answered, or broken off: never without an end, and never turned away by one that has just started.
    expect([...outcomes].sort().filter((outcome) => !['200', 'TypeError'].includes(outcome))).to.deep.equal(
      [],
    )
    expect(outcomes).to.include('200')
  })

  it('are replaced when one is killed, and the others answer in the meantime', async () => {
    const server = await fleet.start()
    const [killed = 0, other = 0] = await childrenOf(server.pid)
    process.kill(killed, 'SIGKILL')
    await untilEnded([killed])
    for (let i = 0; i < 5; i += 1) expect((await fetch(`${server.url}/readyz`)).status).to.equal(200)
    let next = 0
    await eventually(
      async () => {
        const now = await childrenOf(server.pid)
        expect(now).to.have.length(2).and.include(other).and.not.include(killed)
        next = now.find((pid) => pid !== other) ?? 0
      },
      { withinMs: 10_000 },
    )
    await untilAllAnswer(server, [other, next])
    expect(server.output().match(/Sluice is ready/g)).to.have.length(1)
  })

  it('are restarted with growing delays when each exits at once', async () => {
    const plugins = await pluginFolder({
      'dying.js': `import cluster from 'node:cluster'
if (cluster.worker.id > 2) process.exit(3)
export default { name: 'dying', on: {} }
`,
    })
    const server = await fleet.start({ env: { PLUGINS_DIR: plugins } })
    const [killed = 0] = await childrenOf(server.pid)
    process.kill(killed, 'SIGKILL')
    const waits = () =>
      logged(server)
        .filter(({ msg }) => String(msg).startsWith('a web process has exited'))
        .map(({ restartMs }) => restartMs)
    await eventually(() => expect(waits()).to.deep.equal([1000, 2000, 4000]), { withinMs: 20_000 })
    await rm(plugins, { recursive: true })
  })

  it('exit after SIGTERM when their requests are done', async () => {
    const server = await fleet.start()
    const workers = await childrenOf(server.pid)
    const bytes = Buffer.alloc(16 * MIB, 'sluice ')
    const { src } = await uploadOne(server, { name: 'a.txt', bytes })
    const url = `${server.url}${new URL(src).pathname}`
    const responses = await Promise.all(Array.from({ length: 6 }, () => fetch(url)))
    const asked = performance.now()
    server.child.kill('SIGTERM')
    await eventually(async () =>
      expect(await fetch(`${server.url}/healthz`).catch(() => 'refused')).to.equal('refused'),
    )
    const bodies = await Promise.all(responses.map((response) => response.arrayBuffer()))
    for (const body of bodies) expect(Buffer.from(body).equals(bytes)).to.equal(true)
    expect(await server.ended).to.equal(0)
    expect(performance.now() - asked).to.be.below(10_000)
    await untilEnded(workers, { withinMs: 2000 })
  })

  it('exit gracefully at a Ctrl-C, which all of them receive at once', async () => {
    const server = await fleet.start()
    const workers = await childrenOf(server.pid)
    for (const pid of [...workers, server.pid, ...workers, server.pid]) process.kill(pid, 'SIGINT')
    expect(await server.ended).to.equal(0)
    await untilEnded(workers, { withinMs: 2000 })
    expect(server.output()).to.not.include('another follows').and.not.include('sluice: ')
  })

  it('exit at once at a second signal, whatever their clients do', async () => {
    const server = await fleet.start()
    const workers = await childrenOf(server.pid)
    const { src } = await uploadOne(server, { name: 'a.txt', bytes: Buffer.alloc(16 * MIB, 'sluice ') })
    const response = await fetch(`${server.url}${new URL(src).pathname}`)
    server.child.kill('SIGTERM')
    // Sooner, it would count as the same.
    await pause(1500)
    const asked = performance.now()
    server.child.kill('SIGTERM')
    expect(await server.ended).to.equal(0)
    expect(performance.now() - asked).to.be.below(6_000)
    await untilEnded(workers, { withinMs: 2000 })
    await response.body?.cancel().catch(() => {})
  })

  it('exit when the process that has started them is killed', async () => {
    const server = await fleet.start()
    const workers = await childrenOf(server.pid)
    // Not all that it has printed is waited for, which would be for them.
    process.kill(server.pid, 'SIGKILL')
    try {
      await untilEnded(workers, { withinMs: 5_000 })
    } finally {
      for (const pid of workers) if (await isRunning(pid)) process.kill(pid, 'SIGKILL')
    }
  })

  it('do not start when one of them cannot use its bucket, and report why', async () => {
    const { connection } = await s3Server()
    const env = {
      S3_BUCKET: 'nowhere-to-be-found',
      S3_FORCE_PATH_STYLE: 'true',
      AWS_ENDPOINT_URL_S3: connection.endpoint,
      AWS_REGION: connection.region,
      AWS_ACCESS_KEY_ID: connection.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: connection.credentials.secretAccessKey,
    }
    // All of them end at nearly the same moment, which may be before the first is known to have ended.
    for (let i = 0; i < 2; i += 1) {
      const { ended, output } = fleet.run({ env })
      expect(await ended, output()).to.equal(1)
      expect(output()).to.include('S3_BUCKET nowhere-to-be-found cannot be used').and.include('NoSuchBucket')
      expect(output()).to.not.include('Sluice is ready').and.not.include('unsettled')
    }
  })

  it('do not start when one of them exits while the others start', async () => {
    const plugins = await pluginFolder({
      'one-dies.js': `import cluster from 'node:cluster'
import { setTimeout as pause } from 'node:timers/promises'
if (cluster.worker.id === 1) setTimeout(() => process.kill(process.pid, 'SIGKILL'), 2500)
else await pause(5000)
export default { name: 'one-dies', on: {} }
`,
    })
    const { ended, output } = fleet.run({ env: { PLUGINS_DIR: plugins } })
    expect(await ended, output()).to.equal(1)
    expect(output()).to.include('sluice: a web process exited').and.not.include('Sluice is ready')
    await rm(plugins, { recursive: true })
  })

  it('exit without an error when they are stopped during the start', async () => {
    const plugins = await pluginFolder({
      'slow.js': `import { appendFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
appendFileSync(process.env.PLUGINS_DIR + '/loaded', '.')
await pause(30_000)
export default { name: 'slow', on: {} }
`,
    })
    const server = fleet.run({ env: { PLUGINS_DIR: plugins } })
    const { pid = 0 } = server.child
    await eventually(async () => expect((await stat(join(plugins, 'loaded'))).size).to.equal(2), {
      withinMs: 20_000,
    })
    const workers = await childrenOf(pid)
    expect(workers).to.have.length(2)
    server.child.kill('SIGTERM')
    expect(await server.ended, server.output()).to.equal(0)
    await untilEnded(workers, { withinMs: 2000 })
    expect(server.output()).to.not.include('sluice: ')
    await rm(plugins, { recursive: true })
  })

  it('need Redis', async () => {
    const { REDIS_URL: _, ...env } = fleet.env
    const { code, output } = await runToEnd({ ...env, PORT: '0' })
    expect(code).to.equal(1)
    expect(output).to.include('WEB_CONCURRENCY: more than 1 requires REDIS_URL')
  })
})

/** What its processes have logged so far. */
function logged(server: RunningServer): Array<Record<string, unknown>> {
  const lines = server.output().split('\n').slice(0, -1)
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
}

/** The processes that have answered a request. */
function answeredBy(server: RunningServer): unknown[] {
  const requests = logged(server).filter(({ msg }) => msg === 'request')
  return requests.map(({ pid }) => pid)
}
