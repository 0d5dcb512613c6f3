import { cp, rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import pLimit from 'p-limit'
import { type Backend, EMBEDDED } from '../backend.ts'
import { eventually, LONG_MS } from '../eventually.ts'
import { builtScript } from '../programs/built-script.ts'
import type { Caller } from '../requests/client.ts'
import { TEST_DEFAULTS } from '../service.ts'
import { sized } from '../sized.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { type Running, run, tokensOf } from './process.ts'

/** A step at which a process is killed, with a data folder of its own. */
export interface CrashPoint<T> {
  /** As in stored/steps.ts. Without one, the process is killed when `work` has ended. */
  step?: string
  /** What comes before, with a living service. */
  prepare?(dataDir: string): Promise<T>
  /** The requests that come to the step. They fail when the process is killed. */
  work(server: Caller, prepared: T): Promise<unknown>
  /** The test: looks at what the killed process has left. */
  test(dataDir: string, prepared: T): Promise<void>
}

/** Registers a test for a point. */
export type CrashTest = <T = undefined>(title: string, point: CrashPoint<T>) => void

const STARTS_AT_ONCE = 4
const PAUSE_MS = 500
const PROGRAM = await builtScript('crash-services')

/**
 * Kills of a process at many steps, for the suite that calls it. A start takes more time than all else, so one process runs a
 * service for each step. Each service stops at its step: its storage answers nothing from then on. When all have stopped, the
 * process is killed, before the first test.
 *
 * @param env more of the environment of all services
 */
export function crashPoints(
  backend: Backend,
  env: () => Readonly<Record<string, string>> = () => ({}),
): CrashTest {
  const points: Array<CrashPoint<unknown>> = []
  let places: Array<{ dataDir: string; prepared: unknown }> = []

  before('kill a process at each step', async function () {
    this.timeout(3 * LONG_MS)
    // Forty starts at once keep this process busy for longer than a call to Redis may take.
    const limit = pLimit(STARTS_AT_ONCE)
    places = await limit.map(points, async ({ prepare }) => {
      const dataDir = await temporaryFolder()
      return { dataDir, prepared: await prepare?.(dataDir) }
    })
    await killedAt(
      await Promise.all(
        places.map(async ({ dataDir, prepared }, number) => {
          const { step, work } = points[number] as CrashPoint<unknown>
          return {
            env: { ...(await backend.env(dataDir)), ...env(), DATA_DIR: dataDir },
            step,
            work: (server: Caller) => work(server, prepared),
          }
        }),
      ),
    )
  })
  after(async () => {
    for (const { dataDir } of places) await rm(dataDir, { recursive: true, force: true })
  })

  return (title, point) => {
    const number = points.push(point as CrashPoint<unknown>) - 1
    it(title, () => {
      const { dataDir, prepared } = places[number] as (typeof places)[number]
      return point.test(dataDir, prepared as never)
    })
  }
}

/**
 * Whether a step is tried on a backend. In the long tests: on disk every step. S3 and Redis get the same calls in the same order, so
 * there only steps that leave another state.
 *
 * @param usual the few steps of `npm test`; none of them on S3 and Redis, unless a suite gives them
 */
export function isTriedOn(
  backend: Backend,
  step: string,
  { onS3, usual, usualOnS3 = [] }: TriedSteps,
): boolean {
  const isOnDisk = backend === EMBEDDED
  return sized(isOnDisk ? usual : usualOnS3, isOnDisk ? undefined : onS3)?.includes(step) ?? true
}

export interface TriedSteps {
  onS3: readonly string[]
  usual: readonly string[]
  usualOnS3?: readonly string[]
}

/** The backends of a suite of crashes: `npm test` tries its steps on the first, the long tests on all. */
export const crashedBackends = (
  ...[first, ...others]: readonly [Backend, ...Backend[]]
): readonly Backend[] => sized([first], [first, ...others])

/** Wraps a prepare that depends only on the disk. It runs once; each later data folder is a copy of the first, which needs no start. */
export function preparedOnce<T>(prepare: (dataDir: string) => Promise<T>): (dataDir: string) => Promise<T> {
  let first: Promise<{ from: string; prepared: T }> | undefined
  return async (dataDir) => {
    const isFirst = first === undefined
    first ??= prepare(dataDir).then((prepared) => ({ from: dataDir, prepared }))
    const { from, prepared } = await first
    if (!isFirst) await cp(from, dataDir, { recursive: true })
    return prepared
  }
}

/** A service that is killed at a step, or when its work has ended. */
interface Life {
  env: Readonly<Record<string, string>>
  step?: string | undefined
  work(server: Caller): Promise<unknown>
}

/** Runs all services in one process, and kills it when each has come to its step. @throws AssertionError that lists steps which were not reached */
export async function killedAt(lives: readonly Life[]): Promise<void> {
  const services = lives.map(({ env, step = '' }) => ({ env: { ...TEST_DEFAULTS, ...env }, step }))
  const running = run({ script: [PROGRAM], env: { SERVICES: JSON.stringify(services) } })
  try {
    const urls = await listening(running, lives.length)
    const reached = new Set<number>()
    const works: Array<Promise<unknown>> = []
    // A half sent file last: it must not wait until it is given up.
    for (const isHalf of [false, true]) {
      const numbers = [...lives.keys()].filter((number) => isHalfSent(lives[number]) === isHalf)
      for (const number of numbers) {
        const { work, step, env } = lives[number] as Life
        const caller = { url: urls.get(number) ?? '', tokens: await tokensOf(env) }
        const isReached = () => stopped(running).has(number)
        const worked = hasSucceededInTime(() => work(caller), isReached)
        works.push(worked.then((hasEnded) => hasEnded && step === undefined && reached.add(number)))
      }
      await eventually(
        () => {
          for (const number of stopped(running)) reached.add(number)
          const missing = numbers.filter((number) => !reached.has(number))
          expect(missing.map((number) => lives[number]?.step)).to.deep.equal([])
        },
        { withinMs: LONG_MS },
      )
    }
    running.child.kill('SIGKILL')
    expect(await running.ended, running.output()).to.equal('SIGKILL')
    await Promise.all(works)
  } finally {
    running.child.kill('SIGKILL')
  }
}

/** The services that have come to their step. */
function stopped(running: Running): Set<number> {
  return new Set(
    [...running.output().matchAll(/^service (\d+) has stopped$/gm)].map(([, number]) => Number(number)),
  )
}

/** On a busy machine a call to Redis may take too long: a request that fails before the step, or has a 5xx, is sent again. */
async function hasSucceededInTime(work: () => Promise<unknown>, isReached: () => boolean): Promise<boolean> {
  const until = Date.now() + LONG_MS
  while (!(await hasSucceeded(work))) {
    if (isReached() || Date.now() > until) return false
    await pause(PAUSE_MS)
  }
  return true
}

async function hasSucceeded(work: () => Promise<unknown>): Promise<boolean> {
  try {
    const outcome = (await work()) as { status?: number } | undefined
    return (outcome?.status ?? 200) < 500
  } catch {
    return false
  }
}

const isHalfSent = (life: Life | undefined) => life?.step?.startsWith('within ') ?? true

/** Waits until all services of the process listen. @returns their addresses */
async function listening({ output, child }: Running, count: number): Promise<Map<number, string>> {
  const urls = new Map<number, string>()
  await eventually(
    () => {
      expect(child.exitCode, output()).to.equal(null)
      for (const [, number, port] of output().matchAll(/^service (\d+) listens on (\d+)$/gm))
        urls.set(Number(number), `http://127.0.0.1:${port}`)
      expect(urls.size, output()).to.equal(count)
    },
    { withinMs: LONG_MS },
  )
  return urls
}
