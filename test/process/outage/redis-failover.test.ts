import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { eventually, LONG_MS } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { film } from '../../support/media/videos.ts'
import { deleteFile, postFiles, postZip, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { type Fleet, newFleet } from '../../support/servers/fleet.ts'
import type { RunningServer } from '../../support/servers/process.ts'
import { type RedisCluster, startRedisCluster } from '../../support/servers/redis-cluster.ts'
import type { RedisServer } from '../../support/servers/redis-server.ts'
import { startWatchedRedis } from '../../support/servers/sentinels.ts'
import { sized } from '../../support/sized.ts'

const JOBS = ['w=80', 'w=82', 'w=84']

/** A Redis of several servers, one of which is lost. */
interface LosingRedis {
  url: string
  lose(): Promise<unknown>
  comeBack(): Promise<unknown>
  remove(): Promise<void>
}

async function watched(lose: (primary: RedisServer) => unknown, comeBack: (one: RedisServer) => unknown) {
  const { url, servers, remove } = await startWatchedRedis()
  const [primary] = servers as [RedisServer]
  return { url, remove, lose: async () => lose(primary), comeBack: async () => comeBack(primary) }
}

/** Loses the node of the cluster that has the jobs, and a third of the index. */
async function clustered(
  lose: (node: RedisServer, cluster: RedisCluster) => unknown,
  comeBack: (node: RedisServer, cluster: RedisCluster) => unknown,
) {
  const cluster = await startRedisCluster({ isReplicated: true })
  const [node] = cluster.nodes as [RedisServer]
  return {
    url: cluster.url,
    remove: cluster.remove,
    lose: async () => lose(node, cluster),
    comeBack: async () => comeBack(node, cluster),
  }
}

const stop = (server: RedisServer) => server.stop()
const start = (server: RedisServer) => server.start()

const FAILURES: Record<
  string,
  { open: () => Promise<LosingRedis>; isInterrupted: boolean; isLong?: boolean }
> = {
  // It comes back without its data, and becomes a replica.
  'the primary of their Redis is killed': { open: () => watched(stop, start), isInterrupted: true },
  'the primary of their Redis is frozen': {
    open: () =>
      watched(
        (server) => server.freeze(),
        (server) => server.thaw(),
      ),
    isInterrupted: true,
    isLong: true,
  },
  // The index of a client that moves at that moment: ../../adapters/file-index/partitioned/failover.test.ts.
  'a node of their Redis Cluster is killed': {
    open: () => clustered(stop, start),
    isInterrupted: true,
    isLong: true,
  },
  'slots of their Redis Cluster are moved to another node': {
    open: () =>
      clustered(
        (from, cluster) => cluster.move({ from, to: cluster.nodes[1] as RedisServer, slots: 2000 }),
        (to, cluster) => cluster.move({ from: cluster.nodes[1] as RedisServer, to, slots: 500 }),
      ),
    isInterrupted: false,
    isLong: true,
  },
}

for (const [what, { open, isInterrupted, isLong }] of Object.entries(FAILURES))
  if (sized(!isLong, true))
    describe(`web processes under load, when ${what}`, function () {
      this.timeout(400_000)
      let redis: LosingRedis
      let fleet: Fleet
      let servers: RunningServer[]
      let bytes: Buffer
      let stored: WireRecord
      let movie: WireRecord
      const seen: Array<{ what: string; status: number; retryAfter: string | null }> = []
      /** Files whose upload was acknowledged, and those whose delete was. */
      const uploaded = new Map<string, string>()
      const deleted = new Set<string>()
      let width = 100

      before(async () => {
        redis = await open()
        fleet = await newFleet({
          files: 'disk',
          env: {
            REDIS_URL: redis.url,
            INDEX_PARTITIONS: '64',
            MEDIA_JOBS_RUN_IN: 'web',
            LOG_LEVEL: 'error',
            ZIP_RATE_LIMIT: '100000',
            UPLOAD_RATE_LIMIT: '100000',
          },
        })
        servers = [await fleet.start(), await fleet.start()]
        bytes = await picture()
        const [server] = servers as [RunningServer]
        stored = await uploadOne(server, { name: 'stored.png', bytes })
        movie = await uploadOne(server, { name: 'film.mp4', bytes: await film({ colours: ['red', 'blue'] }) })
      })
      after(async () => {
        await fleet.end()
        await redis.remove()
      })

      const path = (src: string) => new URL(src).pathname

      async function upload(server: RunningServer): Promise<void> {
        // Both or none, also where the index is divided.
        const response = await postFiles(server, [
          { name: `${uploaded.size}.png`, bytes },
          { name: `${uploaded.size}-too.png`, bytes },
        ])
        note('upload', response)
        if (response.status !== 200) return void (await response.body?.cancel())
        for (const { s3PathOriginal, src } of (await response.json()) as WireRecord[])
          uploaded.set(s3PathOriginal, path(src))
      }

      async function remove(server: RunningServer): Promise<void> {
        const key = [...uploaded.keys()].find((one) => !deleted.has(one))
        if (key === undefined) return
        // Whatever comes of it, no other request deletes it.
        const src = uploaded.get(key) ?? ''
        uploaded.delete(key)
        const response = await deleteFile(server, key)
        note('delete', response)
        await response.body?.cancel()
        if (response.status === 200) deleted.add(src)
      }

      async function derive(server: RunningServer): Promise<void> {
        width += 1
        const { status, headers } = await exchange(server, `${path(stored.src)}?w=${width}`)
        note('derivative', { status, headers: new Headers({ 'retry-after': headers['retry-after'] ?? '' }) })
      }

      /** A video that a job makes. */
      async function asked(query: string) {
        const [server] = servers as [RunningServer]
        return exchange(server, `${path(movie.src)}?${query}`)
      }

      async function zip(server: RunningServer): Promise<void> {
        const response = await postZip(server, { files: [{ path: stored.s3PathOriginal }] })
        note('zip', response)
        await response.arrayBuffer()
      }

      function note(name: string, { status, headers }: Pick<Response, 'status' | 'headers'>): void {
        seen.push({ what: name, status, retryAfter: headers.get('retry-after') })
      }

      /** Each process is asked for everything, again and again, until it is told to stop. */
      function load(): { stop(): Promise<void>; deliveries(): number } {
        let isOver = false
        let deliveries = 0
        const again = async (work: (server: RunningServer) => Promise<void>, server: RunningServer) => {
          while (!isOver) {
            await work(server)
            // The fewer requests, the less CPU time while a failure is not yet noticed.
            await pause(150)
          }
        }
        const deliver = async (server: RunningServer) => {
          const { status, body } = await exchange(server, path(stored.src))
          expect(status, 'a stored file').to.equal(200)
          expect(body.equals(bytes)).to.equal(true)
          deliveries += 1
        }
        const running = servers.flatMap((server) =>
          [upload, remove, derive, zip, deliver].map((work) => again(work, server)),
        )
        return {
          deliveries: () => deliveries,
          async stop() {
            isOver = true
            await Promise.all(running)
          },
        }
      }

      it('deliver stored files, answer other requests with 200 or 503, and recover by themselves', async () => {
        const working = load()
        try {
          await eventually(() => expect(uploaded.size + deleted.size).to.be.above(20))
          // Jobs that wait or run when the primary is gone.
          for (const query of JOBS) expect((await asked(query)).status).to.equal(423)
          await redis.lose()
          if (isInterrupted)
            await eventually(() => expect(seen.some(({ status }) => status === 503)).to.equal(true))
          const [from, delivered] = [seen.length, working.deliveries()]
          await eventually(() => expect(working.deliveries()).to.be.above(delivered + 5))
          await eventually(() => {
            for (const name of ['upload', 'delete', 'derivative', 'zip'])
              expect(
                seen.slice(from).filter(({ what: one, status }) => one === name && status === 200).length,
                name,
              ).to.be.above(5)
          })
          await redis.comeBack()
          const until = seen.length
          await eventually(() => expect(seen.length).to.be.above(until + 50))
        } finally {
          await working.stop()
        }
        for (const { what: name, status, retryAfter } of seen) {
          expect(status, name).to.be.oneOf([200, 503])
          if (status === 503) expect(Number(retryAfter), name).to.be.above(0)
        }
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
