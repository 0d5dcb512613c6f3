import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import packageJson from '../../../package.json' with { type: 'json' }
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { metricsUrl, sampleOf } from '../../support/metrics.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { type Fleet, newFleet } from '../../support/servers/fleet.ts'
import type { RunningServer } from '../../support/servers/process.ts'
import { childrenOf, isRunning, untilEnded } from '../../support/servers/processes.ts'
import { s3Server } from '../../support/servers/s3-server.ts'
import { itLong, sized } from '../../support/sized.ts'

const MIB = 1024 * 1024
const METRICS_TOKEN = 'sixteen-letters-or-more'
const HEALTH = { route: '/healthz', status: '200' }

describe('several web processes', () => {
  let fleet: Fleet
  before(async () => {
    const metrics = { METRICS_PORT: '0', METRICS_TOKEN }
    fleet = await newFleet({ files: 'disk', env: { WEB_CONCURRENCY: '2', LOG_LEVEL: 'info', ...metrics } })
  })
  after(() => fleet.end())

  /** How many times GET /healthz was asked. */
  let asked = 0
  const ask = (server: RunningServer) => {
    asked += 1
    return exchange(server, '/healthz', { headers: { Connection: 'close' } })
  }

  /** Asks on connections of their own until each of these processes has answered. */
  const untilAllAnswer = async (server: RunningServer, pids: readonly number[]) =>
    eventually(async () => {
      const { status } = await ask(server)
      expect(status).to.equal(200)
      expect(answeredBy(server)).to.include.members([...pids])
    })

  describe('of one start', () => {
    let server: RunningServer
    before(async () => {
      server = await fleet.start()
    })

    const ownMetrics = async () => (await fetch(metricsUrl(server))).text()
    const commonMetrics = async () => {
      const headers = { Authorization: `Bearer ${METRICS_TOKEN}`, Connection: 'close' }
      return String((await exchange(server, '/metrics', { headers })).body)
    }
    // Each process has one: what the operator reads is of both.
    const expectMemoryOfBoth = (text: string) =>
      expect(sampleOf(text, 'process_resident_memory_bytes')).to.be.above(100_000_000)

    it('have the sum of their metrics, on their own port and on the common one', async () => {
      for (let i = 0; i < 10; i += 1) await ask(server)
      for (const read of [ownMetrics, commonMetrics])
        await eventually(async () => {
          const text = await read()
          expect(sampleOf(text, 'sluice_http_requests_total', HEALTH)).to.equal(asked)
          expectMemoryOfBoth(text)
        })
    })

    it('listen on one port, and print one banner', async () => {
      const workers = await childrenOf(server.pid)
      expect(workers).to.have.length(2)
      await untilAllAnswer(server, workers)
      const banners = logged(server).filter(({ msg }) => String(msg).startsWith('Sluice is ready'))
      expect(banners.map(({ version }) => version)).to.deep.equal([packageJson.version])
      const record = await uploadOne(server, { name: 'a.png', bytes: await picture() })
      expect(record.src).to.include(`http://localhost:${new URL(server.url).port}/`)
    })

    it('are replaced when one is killed, while the other answers and no connection is left open', async () => {
      let asking = true
      const outcomes = new Set<string>()
      const askIfReady = async () => {
        while (asking) {
          const answer = fetch(`${server.url}/readyz`, {
            headers: { Connection: 'close' },
          })
          outcomes.add(
            await answer.then(
              ({ status }) => String(status),
              ({ name }) => name,
            ),
          )
          // Enough connections to meet the killed process, and few enough to leave CPU time to its successor.
          await pause(40)
        }
      }
      const askers = Array.from({ length: 8 }, askIfReady)
      const [killed = 0, other = 0] = await childrenOf(server.pid)
      process.kill(killed, 'SIGKILL')
      await untilEnded([killed])
      for (let i = 0; i < 5; i += 1) expect((await fetch(`${server.url}/readyz`)).status).to.equal(200)
      let next = 0
      await eventually(async () => {
        const now = await childrenOf(server.pid)
        expect(now).to.have.length(2).and.include(other).and.not.include(killed)
        next = now.find((pid) => pid !== other) ?? 0
      })
      await untilAllAnswer(server, [other, next])
      asking = false
      await Promise.all(askers)
      // Answered, or broken off: never without an end, and never turned away by one that has just started.
      const others = [...outcomes].filter((outcome) => !['200', 'TypeError'].includes(outcome))
      expect(others).to.deep.equal([])
      expect(outcomes).to.include('200')
      const banners = logged(server).filter(({ msg }) => String(msg).startsWith('Sluice is ready'))
      expect(banners.map(({ version }) => version)).to.deep.equal([packageJson.version])
      // Nothing is counted twice, and what the killed process had counted may be lost.
      expect(sampleOf(await ownMetrics(), 'sluice_http_requests_total', HEALTH)).to.be.at.most(asked)
      await eventually(async () => expectMemoryOfBoth(await ownMetrics()))
    })

    it('finish their requests at a Ctrl-C, which all of them receive at once, and exit', async () => {
      const workers = await childrenOf(server.pid)
      const before = server.output().length
      const bytes = Buffer.alloc(sized(8, 16) * MIB, 'sluice ')
      const { src } = await uploadOne(server, { name: 'a.txt', bytes })
      const url = `${server.url}${new URL(src).pathname}`
      const responses = await Promise.all(Array.from({ length: sized(4, 6) }, () => fetch(url)))
      for (const pid of [...workers, server.pid, ...workers, server.pid]) process.kill(pid, 'SIGINT')
      await eventually(async () =>
        expect(await fetch(`${server.url}/healthz`).catch(() => 'refused')).to.equal('refused'),
      )
      const bodies = await Promise.all(responses.map((response) => response.arrayBuffer()))
      for (const body of bodies) expect(Buffer.from(body).equals(bytes)).to.equal(true)
      expect(await server.ended).to.equal(0)
      await untilEnded(workers)
      expect(server.output().slice(before)).to.not.include('it is replaced').and.not.include('sluice: ')
    })
  })

  it('exit when the process that has started them is killed', async () => {
    const server = await fleet.start()
    const workers = await childrenOf(server.pid)
    // Not all that it has printed is waited for, which would be for them.
    process.kill(server.pid, 'SIGKILL')
    try {
      await untilEnded(workers)
    } finally {
      for (const pid of workers) if (await isRunning(pid)) process.kill(pid, 'SIGKILL')
    }
  })

  itLong('do not start when they cannot use their bucket, and report why', async () => {
    const { connection } = await s3Server()
    const env = {
      S3_BUCKET: 'nowhere-to-be-found',
      S3_FORCE_PATH_STYLE: 'true',
      AWS_ENDPOINT_URL_S3: connection.endpoint,
      AWS_REGION: connection.region,
      AWS_ACCESS_KEY_ID: connection.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: connection.credentials.secretAccessKey,
    }
    const { ended, output } = fleet.run({ env })
    expect(await ended, output()).to.equal(1)
    expect(output()).to.include('S3_BUCKET nowhere-to-be-found cannot be used').and.include('NoSuchBucket')
    expect(output()).to.not.include('Sluice is ready').and.not.include('unsettled')
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
