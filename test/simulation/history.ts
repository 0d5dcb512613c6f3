import type { Client } from '../../src/core/clients/client.ts'
import { createUsers, USERS } from './client/users.ts'
import { checkLaws } from './laws.ts'
import { bucketStore } from './stores/bucket-store.ts'
import { indexStore } from './stores/index-store.ts'
import { ledgerStore } from './stores/ledger-store.ts'
import { lockStore } from './stores/lock-store.ts'
import { type ServiceProcess, startService } from './world/service-process.ts'
import { replaceTime } from './world/virtual-time.ts'
import { NO_FAULTS, type Process, World } from './world/world.ts'

/** What one history has shown. */
export interface Outcome {
  /** The laws that were broken, in words. Empty when all held. */
  violations: readonly string[]
  /** What happened, if it was asked for. */
  story: readonly string[]
}

const CLIENTS = [
  { id: 'first', token: 'a', secrets: [], createdAt: 0 },
  { id: 'second', token: 'b', secrets: [], createdAt: 0, rules: { keepDeletedSeconds: 3600 } },
] as unknown as readonly Client[]

// The clocks of machines must agree within a few seconds.
const CLOCKS_MS = 6000
const REQUESTS = 40
const STEPS = 400
// The time of all requests and faults. The shorter it is, the more of them meet.
const BUSY_MS = [4000, 15_000, 60_000]
// Time for leases, sweeps, and the comparison of index and bucket.
const QUIET_MS = 400_000

/** Plays one history: the same for the same seed. */
export async function playHistory(seed: number, options: { tells?: boolean } = {}): Promise<Outcome> {
  const world = new World(seed, options)
  const startedAt = 1000
  const restore = replaceTime({
    now: () => world.now(),
    uptime: () => startedAt + world.time,
    after: (milliseconds, work) => world.after(milliseconds, work),
    fill: (bytes) => world.random.fill(bytes),
  })
  try {
    return await play(world)
  } finally {
    restore()
  }
}

async function play(world: World): Promise<Outcome> {
  const { random } = world
  const index = await indexStore(world)
  const ledger = await ledgerStore(world)
  const locks = lockStore(world)
  const stores = { bucket: bucketStore(world), index, ledger, locks }
  const services: Array<ServiceProcess | undefined> = []
  let starts = 0
  let hasLost = false
  let outdatedUntil = 0

  function start(place: number): void {
    starts += 1
    const process: Process = {
      name: `p${place}.${starts}`,
      isAlive: true,
      pausedUntil: 0,
      clockOffset: random.chance(0.3) ? Math.floor((random.next() - 0.5) * CLOCKS_MS) : 0,
    }
    world.as(process, () => {
      services[place] = startService(world, process, stores, CLIENTS)
    })
  }

  function kill(service: ServiceProcess | undefined): void {
    if (!service?.process.isAlive) return
    const place = services.indexOf(service)
    world.tell(() => `kills ${service.process.name}`)
    service.process.isAlive = false
    services[place] = undefined
    world.after(random.next() * 20_000, () => start(place), USERS)
  }

  function failOver(): void {
    index.isDown = true
    world.tell(() => 'the index is down')
    world.after(
      random.next() * random.pick([100, 8000]),
      () => {
        index.isDown = false
        const lostMs = random.pick([0, 20, 1000, 5000, Number.POSITIVE_INFINITY])
        world.tell(() => `the index is back, and has lost ${lostMs} ms`)
        hasLost ||= lostMs > 0
        outdatedUntil = world.time + 60_000
        if (lostMs === Number.POSITIVE_INFINITY) {
          index.empty()
          ledger.empty()
        } else index.failOver(lostMs)
        locks.empty()
      },
      USERS,
    )
  }

  const alive = () => services.filter((one) => one !== undefined)
  const users = createUsers({
    world,
    clients: CLIENTS,
    service: () => (alive().length > 0 ? random.pick(alive()) : undefined),
    isOutdated: () => world.time < outdatedUntil,
  })

  const places = 1 + random.below(3)
  for (let place = 0; place < places; place += 1) start(place)
  const busyMs = random.pick(BUSY_MS)
  const rate = random.pick([0, 0.01, 0.05])
  world.faults = { lost: rate, unanswered: rate, late: rate, slow: 2 * rate }

  let acting = 0
  for (let i = 0; i < REQUESTS; i += 1)
    world.after(
      100 + random.next() * busyMs,
      () => {
        acting += 1
        void users.act().finally(() => {
          acting -= 1
        })
      },
      USERS,
    )
  const sometime = (probability: number, work: () => void) => {
    if (random.chance(probability)) world.after(random.next() * busyMs, work, USERS)
  }
  for (let i = 0; i < 3; i += 1) sometime(0.3, () => kill(services[random.below(places)]))
  sometime(0.3, () => {
    const service = services[random.below(places)]
    if (!service) return
    world.tell(() => `pauses ${service.process.name}`)
    service.process.pausedUntil = world.time + random.next() * 90_000
  })
  sometime(0.2, failOver)
  // In the middle of a change: after one of the first requests for files.
  const atStep = (probability: number) => (random.chance(probability) ? 1 + random.below(STEPS) : 0)
  const [failsAt, killsAt] = [atStep(0.5), atStep(0.4)]
  let steps = 0
  world.onStep = ({ name }) => {
    steps += 1
    if (steps === failsAt) failOver()
    if (steps === killsAt) kill(services.find((one) => one?.process.name === name))
  }

  await world.run(() => false, busyMs)
  world.faults = NO_FAULTS
  world.onStep = () => {}
  world.tell(() => 'all faults have ended')
  await world.run(() => false, busyMs + QUIET_MS)
  let isOver = false
  world.after(
    0,
    () => {
      void checkLaws({
        users,
        services: alive(),
        index: index.local,
        objects: stores.bucket.objects,
        hasLost,
      }).finally(() => {
        isOver = true
      })
    },
    USERS,
  )
  await world.run(() => isOver)
  if (acting > 0) users.violated(`${acting} requests were not answered`)
  return { violations: users.violations, story: world.story ?? [] }
}
