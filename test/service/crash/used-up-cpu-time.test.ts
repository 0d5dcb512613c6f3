import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { inProcessLocks } from '../../../src/adapters/locks/in-process.ts'
import { redisLocks } from '../../../src/adapters/locks/redis.ts'
import { connectRedis } from '../../../src/adapters/redis/connection.ts'
import { Problem } from '../../../src/core/problem.ts'
import type { WorkRunner } from '../../../src/pipeline/run/run.ts'
import type { DeriveRequest } from '../../../src/service/derivatives/derivations.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { rejection } from '../../support/rejection.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { newKeyPrefix, sharedRedis } from '../../support/servers/redis-server.ts'
import { type Service, startService } from '../../support/service.ts'
import { derivationsOn, deriveRequestFor } from '../../support/stored/derivations.ts'

function usedUp(address: string): Problem {
  const detail = `the CPU time of ${address} is used up`
  return new Problem({ status: 429, code: 'rate_limited', detail, members: { limit: 'cpu_address' } })
}

/** Renders that take a moment, and fail for addresses without CPU time. */
function renders({ withoutTime }: { withoutTime: readonly string[] }) {
  const begun: string[] = []
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const run: WorkRunner = async (_plan, source, { caller: { address } }) => {
    begun.push(address)
    if (begun.length === 1) await released
    await pause(50)
    if (withoutTime.includes(address)) throw usedUp(address)
    return source
  }
  return { begun, run, release }
}

const addressOf = (host: number) => `127.0.0.${host}`

describe('a derivative whose first caller has no CPU time left', () => {
  let service: Service
  let request: DeriveRequest
  let size: number
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())
  beforeEach(async () => {
    const record = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    request = await deriveRequestFor(service, record)
    size = record.size
  })

  const from = (host: number): DeriveRequest => ({
    ...request,
    caller: { address: addressOf(host), isTrusted: false },
  })

  describe('in another process', () => {
    const opened: Array<() => Promise<void>> = []
    afterEach(async () => {
      for (const close of opened.splice(0)) await close()
    })

    /** Four processes' worth of derivations on one Redis, of which each is asked once, the first one first. */
    async function askFour({ begun, run, release }: ReturnType<typeof renders>) {
      const { url } = await sharedRedis()
      const keyPrefix = newKeyPrefix()
      const all = await Promise.all(
        [1, 2, 3, 4].map(async () => {
          const redis = connectRedis({ url })
          await redis.ready()
          const locks = redisLocks(redis, { keyPrefix })
          opened.push(async () => {
            await locks.close()
            await redis.close()
          })
          return { ...derivationsOn(service, { locks, run, timeoutMs: 10_000 }), redis }
        }),
      )
      const answers = [all[0]?.derive(from(1))]
      await eventually(() => expect(begun).to.have.length(1))
      answers.push(...all.slice(1).map((each, i) => each.derive(from(i + 2))))
      const waiters = async () => {
        const [name = ''] = (await all[0]?.redis.client.keys(`${keyPrefix}*:waiters`)) ?? []
        return all[0]?.redis.client.zcard(name)
      }
      await eventually(async () => expect(await waiters()).to.equal(3))
      release()
      const settled = await Promise.allSettled(answers)
      for (const each of all) await each.idle()
      return settled.map((each) => (each.status === 'fulfilled' ? each.value?.size : each.reason.message))
    }

    it('is rendered by one of the waiting requests, and the others wait for that one', async () => {
      const work = renders({ withoutTime: [addressOf(1)] })
      expect(await askFour(work)).to.deep.equal([usedUp(addressOf(1)).message, size, size, size])
      expect(work.begun).to.have.length(2)
    })

    it('is rendered by the first caller with CPU time', async () => {
      const work = renders({ withoutTime: [1, 2, 4].map(addressOf) })
      const answers = await askFour(work)
      expect(answers[2]).to.equal(size)
      expect(work.begun.filter((address) => address === addressOf(3))).to.have.length(1)
      // Each of the others renders once at most, before or never after the third one has.
      for (const i of [0, 1, 3]) expect(answers[i]).to.be.oneOf([size, usedUp(addressOf(i + 1)).message])
      expect(new Set(work.begun).size).to.equal(work.begun.length)
    })
  })

  /** Locks whose holder is in another process, and has no CPU time left, again and again. */
  const hopeless = {
    async share(_name: string, _work: unknown, { signal }: { signal?: AbortSignal }): Promise<never> {
      await pause(5, undefined, signal ? { signal } : {})
      throw usedUp('127.0.0.9')
    },
  }
  const never: WorkRunner = () => Promise.reject(new Error('expected no render'))

  it('fails after the time limit of its request', async () => {
    const { derive } = derivationsOn(service, { locks: hopeless, run: never, timeoutMs: 100 })
    expect(await rejection(derive(from(1)))).to.include({ status: 503 })
  })

  it('is refused when its own caller has no CPU time left in the meantime', async () => {
    let checks = 0
    const cpuTime = {
      async check() {
        checks += 1
        if (checks > 2) throw usedUp('127.0.0.1')
      },
    }
    const { derive } = derivationsOn(service, { locks: hopeless, run: never, cpuTime })
    expect(await rejection(derive(from(1)))).to.include({ message: usedUp('127.0.0.1').message })
    expect(checks).to.equal(3)
  })

  it('in the same process is rendered for a caller with CPU time, whose points are consumed once', async () => {
    const { begun, run, release } = renders({ withoutTime: [1, 2, 3].map(addressOf) })
    const { derive } = derivationsOn(service, { locks: inProcessLocks(), run })
    let points = 0
    const takePoint = async () => {
      points += 1
    }
    const answers = [1, 2, 3, 4].map((host) => {
      const beforeRender = host === 4 ? { beforeRender: takePoint } : {}
      return derive({ ...from(host), ...beforeRender }).then(
        (asset) => asset.size,
        (error: Error) => error.message,
      )
    })
    await eventually(() => expect(begun).to.have.length(1))
    release()
    expect(await Promise.all(answers)).to.deep.equal([
      ...[1, 2, 3].map((host) => usedUp(addressOf(host)).message),
      size,
    ])
    expect(begun).to.deep.equal([1, 2, 3, 4].map(addressOf))
    expect(points).to.equal(1)
  })

  it('in the same process fails after the time limit of a request that has joined', async () => {
    const { begun, run, release } = renders({ withoutTime: [addressOf(1)] })
    let clock = Date.now()
    const { derive } = derivationsOn(service, { locks: inProcessLocks(), run, now: () => clock })
    const answers = [1, 2].map((host) => rejection(derive(from(host))))
    await eventually(() => expect(begun).to.have.length(1))
    clock += 60_000
    release()
    expect((await Promise.all(answers)).map((error) => (error as Problem).status)).to.deep.equal([429, 503])
    expect(begun).to.have.length(1)
  })
})
