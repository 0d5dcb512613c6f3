import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { deleteFile, uploadOne } from '../support/requests/client.ts'
import { exchange } from '../support/requests/exchange.ts'
import { type Fleet, newFleet } from '../support/servers/fleet.ts'
import type { RunningServer } from '../support/servers/process.ts'
import { sized } from '../support/sized.ts'

describe('the hot path of two processes on one Redis', () => {
  let fleet: Fleet
  let one: RunningServer
  let other: RunningServer
  before(async function () {
    this.timeout(30_000)
    fleet = await newFleet({ files: 'disk', env: { LOG_LEVEL: 'error' } })
    ;[one, other] = await Promise.all([fleet.start(), fleet.start()])
  })
  after(() => fleet.end())

  it('delivers no byte of a deleted file: here after the answer, elsewhere after 200 ms', async function () {
    this.timeout(60_000)
    const deletes = sized(20, 1000)
    // So few that a busy machine answers them all while the file is there.
    const atOnce = 5
    const late: string[] = []
    let hot = 0
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
          const read = async (service: RunningServer, graceMs: number) => {
            let answers = 0
            while (!isOver) {
              const askedAt = performance.now()
              const { status } = await exchange(service, path)
              if (status === 200) answers += 1
              if (status === 200 && askedAt > deletedAt + graceMs)
                late.push(`${path}, after ${askedAt - deletedAt} ms`)
            }
            return answers
          }
          const readers = [read(one, 0), read(other, 200)]
          await pause(20)
          await deleteFile(one, s3PathOriginal)
          deletedAt = performance.now()
          await pause(230)
          isOver = true
          const [here = 0, there = 0] = await Promise.all(readers)
          hot += Number(here > 1 && there > 1)
        }),
      )
    }
    expect(late).to.deep.equal([])
    // Otherwise the readers were too slow to have anything in the cache.
    expect(hot).to.be.above(deletes / 20)
  })
})
