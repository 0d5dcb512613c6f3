import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { eventually } from '../support/eventually.ts'
import { type Caller, deleteFile, uploadOne } from '../support/requests/client.ts'
import { exchange } from '../support/requests/exchange.ts'
import { type Fleet, newFleet } from '../support/servers/fleet.ts'
import { startFailingCluster } from '../support/servers/redis-cluster.ts'
import { type AnyRedis, startRedis } from '../support/servers/redis-server.ts'
import { sized } from '../support/sized.ts'

const REDIS: Record<string, () => Promise<AnyRedis>> = {
  'one Redis': () => startRedis(),
  // Each node reports the changes of its files. In `npm test`, this is the case that is tried.
  'one Redis Cluster': () => startFailingCluster(),
}

for (const [what, redis] of Object.entries(REDIS).slice(sized(-1, 0)))
  describe(`the hot path of two processes on ${what}`, () => {
    let fleet: Fleet
    let one: Caller
    let other: Caller
    before(async () => {
      fleet = await newFleet({ files: 'disk', redis, env: { INDEX_PARTITIONS: '64', LOG_LEVEL: 'error' } })
      // What one of them caches, the other one learns from Redis only, also in one process.
      const start = sized<() => Promise<Caller>>(fleet.service, fleet.start)
      ;[one, other] = await Promise.all([start(), start()])
    })
    after(() => fleet.end())

    it('delivers no byte of a deleted file: here after the answer, elsewhere after 200 ms', async function () {
      // A thousand deletes on a busy machine.
      this.timeout(600_000)
      const deletes = sized(3, 1000)
      const atOnce = sized(3, 5)
      const late: string[] = []
      for (let done = 0; done < deletes; done += atOnce) {
        const batch = await Promise.all(
          Array.from({ length: atOnce }, (_, i) =>
            uploadOne(one, { name: 'a.txt', bytes: Buffer.from(`${done + i}`) }),
          ),
        )
        await Promise.all(
          batch.map(async ({ src, s3PathOriginal }) => {
            const path = new URL(src).pathname
            let deletedAt = Number.POSITIVE_INFINITY
            let isOver = false
            const read = (service: Caller, graceMs: number) => {
              let setHot = () => {}
              const hot = new Promise<void>((done) => {
                setHot = done
              })
              const ended = (async () => {
                for (let answers = 1; !isOver; answers += 1) {
                  const askedAt = performance.now()
                  const { status } = await exchange(service, path)
                  if (status === 200 && askedAt > deletedAt + graceMs)
                    late.push(`${path}, after ${askedAt - deletedAt} ms`)
                  // The first answer puts the file into the cache.
                  if (answers > 1) setHot()
                }
              })()
              return { hot, ended }
            }
            const readers = [read(one, 0), read(other, sized(Number.POSITIVE_INFINITY, 200))]
            await Promise.all(readers.map(({ hot }) => hot))
            await deleteFile(one, s3PathOriginal)
            deletedAt = performance.now()
            await pause(230)
            isOver = true
            await Promise.all(readers.map(({ ended }) => ended))
            await eventually(async () => expect((await exchange(other, path)).status).to.equal(404))
          }),
        )
      }
      expect(late).to.deep.equal([])
    })
  })
