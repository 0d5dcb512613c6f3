import { anySignal } from '../../core/async/any-signal.ts'
import type { CpuTime } from '../../core/budgets/cpu-time.ts'
import type { Asset } from '../../core/bytes/asset.ts'
import { INFORMATION_VARIANT } from '../../core/files/variant.ts'
import { formatOfMediaType } from '../../core/media/formats.ts'
import type { Forecast } from '../../core/plugin-api/forecast.ts'
import type { Engine, EngineContext, EngineName } from '../../core/plugin-api/plugin.ts'
import type { Metrics } from '../../core/ports/metrics.ts'
import { wrapAssetError } from '../../core/problem.ts'
import { takesTooLong } from '../../core/transform-problems.ts'
import type { Plan, Step } from '../plan/plan.ts'
import { type NamedFile, namedFiles } from '../plan/referenced-files.ts'
import { runsAsJob } from '../plan/runs-as-job.ts'
import type { Admission } from './admission.ts'
import { measured, type Timed } from './measured.ts'
import { type Runner, runsOfOneEngine, type WorkContext, type WorkRunner } from './run.ts'
import type { SmallerCopies } from './smaller-copies.ts'
import { createSpentHere, type Spent } from './spending.ts'

export interface DispatchOptions {
  engines: ReadonlyMap<EngineName, Engine>
  admit: Admission
  /**
   * Admits reads of source headers. They are short, so they have their own queues and never wait for a
   * transformation.
   */
  look: Admission
  /** CPU time limits of callers. Media jobs are not charged: their number is limited. */
  cpuTime: CpuTime
  /** Smaller copies of expensive sources. Without it, every output is rendered from its source. */
  copies?: SmallerCopies
  /** Runs plans in this process. */
  here: Runner
  /** Runs plans in a process that can be killed at any time, when `timeoutMs` of the limits is exceeded. */
  elsewhere: Runner
  /** What all plans that run in this process may use together. */
  room: { bytes: number; atOnce: number }
  /** Time limit of work that may hang, in milliseconds. Other work has the limit of its context. */
  hangMs: number
  /** Records every transformation, including those that are refused by their header. */
  metrics: Pick<Metrics, 'transformed'>
}

/** A context with `spent`, which the work calls with its CPU time. */
type Spending = EngineContext & { spent: Spent }

const NO_SMALLER_COPIES: SmallerCopies = { render: (_forecast, { render }) => render(undefined) }

/**
 * Creates a runner that first reads the source's header, waits for a turn, and then chooses the process. It uses this
 * process unless the work may hang, or needs more memory or threads than this process has left.
 */
export function createDispatcher({
  engines,
  admit,
  look,
  cpuTime,
  copies = NO_SMALLER_COPIES,
  here,
  elsewhere,
  room,
  hangMs,
  metrics,
}: DispatchOptions): WorkRunner {
  const spentHere = createSpentHere()
  let bytesHere = 0
  let runningHere = 0
  /** Runs steps of one engine in a process with room for them. Their turn has come. */
  const runSteps = async (plan: Plan, forecast: Forecast, context: Spending): Promise<Asset> => {
    const { bytes, mayHang, ownProcess, source } = forecast
    const { limits } = context
    if (ownProcess) return inTime(here, plan, source, context)
    if (mayHang) {
      const timeoutMs = Math.min(hangMs, limits.timeoutMs)
      return elsewhere(plan, source, { ...context, limits: { ...limits, timeoutMs } })
    }
    if (bytesHere + bytes > room.bytes || runningHere >= room.atOnce) return elsewhere(plan, source, context)
    bytesHere += bytes
    runningHere += 1
    try {
      return await spentHere(() => inTime(here, plan, source, context), context.spent)
    } finally {
      bytesHere -= bytes
      runningHere -= 1
    }
  }
  /** Runs a transformation, and charges for it with or without an error. */
  async function paid(work: (spent: Spent) => Promise<Asset>, payer: WorkContext): Promise<Asset> {
    let cpuMs = 0
    try {
      return await work((more) => {
        cpuMs += more
      })
    } finally {
      // Not awaited: the response does not depend on it.
      if (cpuMs > 0)
        cpuTime.charge(payer, cpuMs).catch((err) => payer.log.warn({ err }, 'CPU time could not be charged'))
    }
  }
  return (plan, source, context) => {
    const { signal, clientId, caller } = context
    const isJob = runsAsJob(plan)
    const inParts = (spent: Spent) => async (timed: Timed) => {
      let asset = source
      /**
       * Other work of this payer may have used up its CPU time during the wait, so check again. The work's CPU time
       * is charged to the payer and to its turn.
       */
      const checked =
        <T>(work: (spent: Spent) => Promise<T>) =>
        async (spentOfTurn: Spent) => {
          if (!isJob) await cpuTime.check(context)
          return timed(() =>
            work((more) => {
              spentOfTurn(more)
              spent(more)
            }),
          )
        }
      // When the engine changes, each part has a forecast and a turn of its own: only then is its header known.
      for (const steps of runsOfOneEngine(plan.steps)) {
        const part = { ...plan, steps }
        const original = asset
        const forecastFor = (which: Plan, from: Asset) =>
          look(
            checked((more) => spentHere(() => forecastOf(engines, which, from, context), more)),
            { signal, bytes: 0, clientId, caller },
          )
        const inTurn = (which: Plan, forecast: Forecast) => {
          const work = checked((more) => runSteps(which, forecast, { ...context, spent: more }))
          // Jobs have their own queue. In the queue of images, one would block the others for minutes.
          if (runsAsJob(which)) return work(() => {})
          return admit(work, { signal, bytes: forecast.bytes, clientId, caller })
        }
        const forecast = await forecastFor(part, original)
        // Facts about a copy are not those about its original.
        const { render } = plan.variant === INFORMATION_VARIANT ? NO_SMALLER_COPIES : copies
        asset = await render(forecast, {
          context,
          decode: async (pixels) => inTurn(pixels, await forecastFor(pixels, original)),
          render: async (copy) => inTurn(part, copy ? await forecastFor(part, copy) : forecast),
        })
      }
      return asset
    }
    const work = (spent: Spent) => measured(inParts(spent), { metrics, signal })
    return isJob ? work(() => {}) : paid(work, context)
  }
}

/** Applies the time limit to all passes together; the engine applies its own to each. @throws Problem 422 */
async function inTime(run: Runner, ...[plan, source, context]: Parameters<Runner>): Promise<Asset> {
  const over = new AbortController()
  const { group } = formatOfMediaType(source.mediaType)
  const timer = setTimeout(() => over.abort(takesTooLong(group)), context.limits.timeoutMs)
  const { signal, leave } = anySignal([context.signal, over.signal])
  try {
    return await run(plan, source, { ...context, signal })
  } finally {
    clearTimeout(timer)
    leave()
  }
}

async function forecastOf(
  engines: DispatchOptions['engines'],
  ...[{ steps }, source, context]: Parameters<Runner>
): Promise<Forecast> {
  const first = steps[0]
  const engine = first && engines.get(first.plugin.engine)
  const forecast = (await engine?.forecast(source, steps, context)) ?? {
    bytes: source.size,
    mayHang: false,
    source,
  }
  for (const file of namedFiles(steps)) {
    const { bytes, mayHang } = await forecastOfNamed(engines, file, context)
    forecast.bytes += bytes
    forecast.mayHang ||= mayHang
  }
  return forecast
}

/** A watermark is decoded in addition to the image, and may hang in the same way. */
async function forecastOfNamed(
  engines: DispatchOptions['engines'],
  { param, key, step }: NamedFile<Step>,
  context: EngineContext,
): Promise<Pick<Forecast, 'bytes' | 'mayHang'>> {
  const asset = await context.asset(key)
  const engine = engines.get(step.plugin.engine)
  if (!engine) return { bytes: asset.size, mayHang: false }
  return engine.forecast(asset, [], context).catch((cause) => {
    throw wrapAssetError(param, cause)
  })
}
