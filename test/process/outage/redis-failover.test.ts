import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { partitionNumber } from '../../../src/adapters/file-index/partitioned/division.ts'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { PARTITIONS } from '../../../src/core/files/partition.ts'
import { eventually, LONG_MS } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { film } from '../../support/media/videos.ts'
import { deleteFile, postFiles, postZip, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { type Fleet, newFleet } from '../../support/servers/fleet.ts'
import type { RunningServer } from '../../support/servers/process.ts'
import { PRIMARIES, type RedisCluster, startRedisCluster } from '../../support/servers/redis-cluster.ts'
import type { RedisServer } from '../../support/servers/redis-server.ts'
import { startWatchedRedis } from '../../support/servers/sentinels.ts'
import { PROJECT } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'

const JOBS = sized(['w=80'], ['w=80', 'w=82', 'w=84'])
const WORKER = [join(PROJECT, 'dist', 'src', 'worker.js')]

// Each request is sent at most as often as this, so that it takes less CPU time while a failure is not yet noticed.
const PAUSE_MS = sized(700, 150)
/** How often a request may fail when another server has taken over. Until then, it depends on the settings of Redis. */
const MOST_TRIES = 20

/** The number of requests that have each part of the index twice, where they take files of the parts in turn. */
const LAST = 2 * PRIMARIES

const KINDS = ['upload', 'delete', 'derivative', 'zip'] as const
type Kind = (typeof KINDS)[number]

/** A Redis of several servers, one of which is lost. */
interface LosingRedis {
  url: string
  /** The number of primaries that have a part of the index. */
  parts: number
  /** The part with a file, from 0. */
  partOf(key: string): number
  lose(): Promise<unknown>
  /** Resolves when another server has replaced the lost one. */
  replaced(): Promise<unknown>
  comeBack(): Promise<unknown>
  remove(): Promise<void>
}

async function watched(
  lose: (primary: RedisServer) => unknown,
  comeBack: (one: RedisServer) => unknown,
): Promise<LosingRedis> {
  const { url, servers, primary: currentPrimary, remove } = await startWatchedRedis()
  const [primary] = servers as [RedisServer]
  return {
    ...{ url, remove, parts: 1, partOf: () => 0 },
    lose: async () => lose(primary),
    replaced: () => eventually(async () => expect(await currentPrimary()).to.not.equal(primary)),
    comeBack: async () => comeBack(primary),
  }
}

interface LosingCluster {
  lose(node: RedisServer, cluster: RedisCluster): unknown
  comeBack(node: RedisServer, cluster: RedisCluster): unknown
  /** Whether another node replaces the lost one. */
  isReplaced: boolean
}

/** Loses a node of a cluster: by default the one that has the jobs, and a third of the index. */
async function clustered({ lose, comeBack, isReplaced }: LosingCluster, number = 0): Promise<LosingRedis> {
  const cluster = await startRedisCluster({ isReplicated: true })
  const node = cluster.nodes[number] as RedisServer
  return {
    url: cluster.url,
    parts: PRIMARIES,
    partOf: (key) =>
      cluster.primaryOf(partitionNumber({ clientId: 'first', key: storedKey(key) }, PARTITIONS)),
    lose: async () => lose(node, cluster),
    replaced: async () => isReplaced && cluster.replaced(node),
    comeBack: async () => comeBack(node, cluster),
    remove: cluster.remove,
  }
}

const stop = (server: RedisServer) => server.stop()
const start = (server: RedisServer) => server.start()
const freeze = (server: RedisServer) => server.freeze()
const thaw = (server: RedisServer) => server.thaw()
const setMemory = (bytes: number) => (node: RedisServer, cluster: RedisCluster) =>
  cluster.ask(node, 'CONFIG', 'SET', 'maxmemory', bytes)
const FULL = { lose: setMemory(1), comeBack: setMemory(0), isReplaced: false }

interface Failure {
  open(): Promise<LosingRedis>
  /** Whether some requests fail with 503 at first. */
  isInterrupted: boolean
  /** Until the server comes back, these requests always succeed, and those succeed for some files. Default: all succeed again. */
  succeed?: { always: readonly Kind[]; partly: readonly Kind[] }
  isLong?: boolean
}

const FAILURES: Record<string, Failure> = {
  // It comes back without its data, and becomes a replica. In `npm test`, ../../adapters/redis/sentinel.test.ts has the failover.
  'the primary of their Redis is killed': {
    open: () => watched(stop, start),
    isInterrupted: true,
    isLong: true,
  },
  'the primary of their Redis is frozen': {
    open: () => watched(freeze, thaw),
    isInterrupted: true,
    isLong: true,
  },
  // The index of a client that moves at that moment: ../../adapters/file-index/partitioned/failover.test.ts.
  'a node of their Redis Cluster is killed': {
    open: () => clustered({ lose: stop, comeBack: start, isReplaced: true }),
    isInterrupted: true,
  },
  'a node of their Redis Cluster is frozen': {
    open: () => clustered({ lose: freeze, comeBack: thaw, isReplaced: true }),
    isInterrupted: true,
    isLong: true,
  },
  'a node of their Redis Cluster is full': {
    open: () => clustered(FULL),
    isInterrupted: true,
    succeed: { always: ['delete'], partly: ['upload', 'derivative', 'zip'] },
    isLong: true,
  },
  'the node of their Redis Cluster with the locks is full': {
    open: () => clustered(FULL, 1),
    isInterrupted: true,
    succeed: { always: ['delete'], partly: ['upload', 'zip'] },
    isLong: true,
  },
  'slots of their Redis Cluster are moved to another node': {
    open: () =>
      clustered({
        lose: (from, cluster) => cluster.move({ from, to: cluster.nodes[1] as RedisServer, slots: 2000 }),
        comeBack: (to, cluster) => cluster.move({ from: cluster.nodes[1] as RedisServer, to, slots: 500 }),
        isReplaced: false,
      }),
    isInterrupted: false,
    isLong: true,
  },
}

interface Seen {
  kind: Kind
  /** The number of the process. */
  by: number
  status: number
  retryAfter: string | null
  atMs: number
}

for (const [what, { open, isInterrupted, succeed, isLong }] of Object.entries(FAILURES))
  if (sized(!isLong, true))
    describe(`web processes under load, when ${what}`, function () {
      this.timeout(400_000)
      let redis: LosingRedis
      let fleet: Fleet
      let servers: RunningServer[]
      let bytes: Buffer
      /** One file of each part of the index. */
      let stored: WireRecord[]
      let movie: WireRecord
      const seen: Seen[] = []
      /** Files whose upload was acknowledged, and those whose delete was. */
      const uploaded = new Map<string, string>()
      const deleted = new Set<string>()
      let width = 100

      before(async () => {
        redis = await open()
        // A process more costs a second of CPU time.
        const hasWorker = redis.parts > 1 && sized(false, true)
        fleet = await newFleet({
          files: 'disk',
          env: {
            REDIS_URL: redis.url,
            INDEX_PARTITIONS: '64',
            MEDIA_JOBS_RUN_IN: hasWorker ? 'worker' : 'web',
            LOG_LEVEL: 'error',
            ZIP_RATE_LIMIT: '100000',
            UPLOAD_RATE_LIMIT: '100000',
          },
        })
        // The second one reads the index for each delivery.
        servers = [await fleet.start(), await fleet.start({ env: { HOT_CACHE_BYTES: '0' } })]
        if (hasWorker) {
          const { output } = fleet.run({ script: WORKER })
          await eventually(() => expect(output()).to.include('the worker is ready'))
        }
        bytes = await picture()
        const [server] = servers as [RunningServer]
        const byPart = new Map<number, WireRecord>()
        while (byPart.size < redis.parts) {
          const record = await uploadOne(server, { name: 'stored.png', bytes })
          byPart.set(redis.partOf(record.s3PathOriginal), record)
        }
        stored = [...byPart.values()]
        movie = await uploadOne(server, { name: 'film.mp4', bytes: await film({ colours: ['red', 'blue'] }) })
      })
      after(async () => {
        await fleet.end()
        await redis.remove()
      })

      const path = (src: string) => new URL(src).pathname
      const inTurn = (i: number) => stored[i % stored.length] as WireRecord

      async function upload(server: RunningServer): Promise<void> {
        // Both or none, also where the index is divided.
        const response = await postFiles(server, [
          { name: `${uploaded.size}.png`, bytes },
          { name: `${uploaded.size}-too.png`, bytes },
        ])
        note('upload', server, response)
        if (response.status !== 200) return void (await response.body?.cancel())
        for (const { s3PathOriginal, src } of (await response.json()) as WireRecord[])
          uploaded.set(s3PathOriginal, path(src))
      }

      /** Of each part of the index in turn. */
      async function remove(server: RunningServer, i: number): Promise<void> {
        const keys = [...uploaded.keys()]
        const key = keys.find((one) => redis.partOf(one) === i % redis.parts)
        if (key === undefined) return
        // Whatever comes of it, no other request deletes it.
        const src = uploaded.get(key) ?? ''
        uploaded.delete(key)
        const response = await deleteFile(server, key)
        note('delete', server, response)
        await response.body?.cancel()
        if (response.status === 200) deleted.add(src)
      }

      async function derive(server: RunningServer, i: number): Promise<void> {
        width += 1
        const { status, headers } = await exchange(server, `${path(inTurn(i).src)}?w=${width}`)
        note('derivative', server, {
          status,
          headers: new Headers({ 'retry-after': headers['retry-after'] ?? '' }),
        })
      }

      /** A video that a job makes. */
      async function asked(query: string) {
        const [server] = servers as [RunningServer]
        return exchange(server, `${path(movie.src)}?${query}`)
      }

      async function zip(server: RunningServer, i: number): Promise<void> {
        const response = await postZip(server, { files: [{ path: inTurn(i).s3PathOriginal }] })
        note('zip', server, response)
        await response.arrayBuffer()
      }

      function note(
        kind: Kind,
        server: RunningServer,
        { status, headers }: Pick<Response, 'status' | 'headers'>,
      ): void {
        const retryAfter = headers.get('retry-after')
        seen.push({ kind, by: servers.indexOf(server), status, retryAfter, atMs: performance.now() })
      }

      async function deliver(server: RunningServer, { src }: WireRecord): Promise<void> {
        const { status, body } = await exchange(server, path(src))
        expect(status, 'a stored file').to.equal(200)
        expect(body.equals(bytes)).to.equal(true)
      }

      /** Each process receives requests of all kinds, until they are stopped. */
      function load(): { stop(): Promise<void> } {
        let isOver = false
        const again = async (
          work: (server: RunningServer, i: number) => Promise<void>,
          server: RunningServer,
        ) => {
          for (let i = 0; !isOver; i += 1) {
            await work(server, i)
            await pause(PAUSE_MS)
          }
        }
        const deliverInTurn = (server: RunningServer, i: number) => deliver(server, inTurn(i))
        const running = servers.flatMap((server) =>
          [upload, remove, derive, zip, deliverInTurn].map((work) => again(work, server)),
        )
        return {
          async stop() {
            isOver = true
            await Promise.all(running)
          },
        }
      }

      const refusals = (answers: readonly Seen[]) => answers.filter(({ status }) => status === 503)

      /** Expects that the last requests of each kind have succeeded in each process, with files of all parts. */
      function expectAll(from: number): void {
        for (const kind of KINDS)
          for (const by of servers.keys()) {
            const last = seen.slice(from).filter((one) => one.kind === kind && one.by === by)
            expect(last.length, kind).to.be.at.least(LAST)
            expect(refusals(last.slice(-LAST)), kind).to.deep.equal([])
          }
      }

      function expectSome(from: number, { always, partly }: NonNullable<Failure['succeed']>): void {
        for (const kind of [...always, ...partly]) {
          const ended = seen.slice(from).filter((one) => one.kind === kind && one.status === 200)
          expect(ended.length, kind).to.be.above(LAST)
        }
      }

      /** The requests that failed, of one kind in one process. */
      function expectFewTries(answers: readonly Seen[]): void {
        const counts = new Map<string, number>()
        for (const { kind, by } of refusals(answers))
          counts.set(`${kind} ${by}`, (counts.get(`${kind} ${by}`) ?? 0) + 1)
        expect([...counts].filter(([, count]) => count > MOST_TRIES)).to.deep.equal([])
      }

      /** For docs/how-to/redis-cluster.md, in the long run. */
      function printOutage(): void {
        for (const by of servers.keys()) {
          const times = refusals(seen.filter((one) => one.by === by)).map(({ atMs }) => atMs)
          const seconds = (Math.max(...times) - Math.min(...times)) / 1000
          console.log(`      process ${by}: ${times.length} answers of 503 in ${seconds.toFixed(1)} s`)
        }
      }

      it('deliver stored files, answer other requests with 200 or 503, and recover by themselves', async () => {
        const working = load()
        let lostAt = 0
        try {
          await eventually(() => expect(uploaded.size + deleted.size).to.be.above(sized(10, 20)))
          // Jobs that wait or run when the primary is gone.
          for (const query of JOBS) expect((await asked(query)).status).to.equal(423)
          lostAt = seen.length
          await redis.lose()
          await Promise.all(servers.flatMap((server) => stored.map((one) => deliver(server, one))))
          if (isInterrupted) await eventually(() => expect(refusals(seen)).to.not.be.empty)
          await redis.replaced()
          const from = seen.length
          await eventually(() => (succeed ? expectSome(from, succeed) : expectAll(from)))
          if (!succeed) expectFewTries(seen.slice(from))
          await redis.comeBack()
          const until = seen.length
          await eventually(() => expect(seen.length).to.be.above(until + sized(10, 50)))
        } finally {
          await working.stop()
        }
        if (isInterrupted && !succeed && sized(false, true)) printOutage()
        for (const { kind, status, retryAfter } of seen) {
          expect(status, kind).to.be.oneOf([200, 503])
          if (status === 503) expect(Number(retryAfter), kind).to.be.above(0)
        }
        const always = seen.slice(lostAt).filter(({ kind }) => succeed?.always.includes(kind))
        expect(refusals(always)).to.deep.equal([])
      })

      it('complete the jobs that were waiting or running', async () => {
        for (const query of JOBS)
          await eventually(async () => expect((await asked(query)).status).to.equal(200), {
            withinMs: LONG_MS,
          })
      })

      it('have every file whose upload they have acknowledged, and none that was deleted', async () => {
        const [server] = servers
        if (!server) throw new Error('no server')
        const authorization = server.tokens.secretClientToken
        // What the replica had not is found again from the bucket.
        await eventually(async () => {
          const listed: string[] = []
          for (let cursor: string | null = ''; cursor !== null; ) {
            const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
            const answer = await exchange(server, `/v1/files?limit=100${query}`, {
              headers: { authorization },
            })
            expect(answer.status).to.equal(200)
            const page = jsonOf(answer) as { files: WireRecord[]; cursor: string | null }
            listed.push(...page.files.map(({ s3PathOriginal }) => s3PathOriginal))
            cursor = page.cursor
          }
          expect([...uploaded.keys()].filter((key) => !listed.includes(key))).to.deep.equal([])
        })
        for (const src of uploaded.values()) expect((await exchange(server, src)).status).to.equal(200)
        for (const src of deleted) expect((await exchange(server, src)).status).to.equal(404)
      })
    })
