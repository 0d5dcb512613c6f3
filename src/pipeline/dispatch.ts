import pLimit from 'p-limit'
import type { Asset } from '../core/asset.ts'
import { joinSignals } from '../core/joined-signal.ts'
import type { Engine, EngineContext, EngineName, Forecast } from '../core/plugin.ts'
import type { Metrics } from '../core/ports/metrics.ts'
import { ofAsset, takesTooLong } from '../core/problem.ts'
import type { Admission } from './admission.ts'
import { isLasting } from './lasting.ts'
import { outcomeOf } from './measured.ts'
import { type NamedFile, namedFiles } from './named-files.ts'
import { type Runner, runsOfOneEngine } from './run.ts'

export interface DispatchOptions {
  engines: ReadonlyMap<EngineName, Engine>
  admit: Admission
  /** Runs plans in this process. */
  here: Runner
  /** Runs them where they can be ended at any time: when `timeoutMs` of the limits are over. */
  elsewhere: Runner
  /** What those that run here may take together. */
  room: { bytes: number; atOnce: number }
  /** Time for those that may hang; the others have that of the limits. */
  hangMs: number
  /** Is told of those that are refused by their header. */
  metrics: Pick<Metrics, 'transformed'>
}

// A header may take the whole file, of 40 MB.
const LOOKS_AT_ONCE = 2

/**
 * A runner that looks at the source's header first, waits for its turn, and then chooses: here, unless the work may hang
 * or would take more memory or threads than this process can spare.
 */
export function createDispatcher(options: DispatchOptions): Runner {
  const { admit, here, elsewhere, room, hangMs } = options
  const looking = pLimit(LOOKS_AT_ONCE)
  let bytesHere = 0
  let runningHere = 0
  const oneEngine: Runner = async (plan, source, context) => {
    const forecast = await looking(() => forecastOf(options, plan, source, context))
    const { bytes, mayHang, ownProcess } = forecast
    // It has stood in a queue of its own, and in the line of pictures it would be in their way for minutes.
    if (isLasting(plan)) return inTime(here, plan, forecast.source, context)
    return admit(
      async () => {
        const { limits } = context
        if (ownProcess) return inTime(here, plan, forecast.source, context)
        if (mayHang) {
          const timeoutMs = Math.min(hangMs, limits.timeoutMs)
          return elsewhere(plan, forecast.source, { ...context, limits: { ...limits, timeoutMs } })
        }
        if (bytesHere + bytes > room.bytes || runningHere >= room.atOnce)
          return elsewhere(plan, forecast.source, context)
        bytesHere += bytes
        runningHere += 1
        try {
          return await inTime(here, plan, forecast.source, context)
        } finally {
          bytesHere -= bytes
          runningHere -= 1
        }
      },
      { signal: context.signal, bytes },
    )
  }
  // What a change of engine renders has a forecast and a turn of its own: only then is its header known.
  return async (plan, source, context) => {
    const runs = runsOfOneEngine(plan.steps)
    if (runs.length < 2) return oneEngine(plan, source, context)
    let asset = source
    for (const steps of runs) asset = await oneEngine({ ...plan, steps }, asset, context)
    return asset
  }
}

/** The limit of all its passes together; the engine has that of each. @throws Problem 422 */
async function inTime(run: Runner, ...[plan, source, context]: Parameters<Runner>): Promise<Asset> {
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(takesTooLong()), context.limits.timeoutMs)
  const { signal, leave } = joinSignals([context.signal, over.signal])
  try {
    return await run(plan, source, { ...context, signal })
  } finally {
    clearTimeout(timer)
    leave()
  }
}

async function forecastOf(
  { engines, metrics }: Pick<DispatchOptions, 'engines' | 'metrics'>,
  ...[{ steps }, source, context]: Parameters<Runner>
): Promise<Forecast> {
  context.signal.throwIfAborted()
  const startedAt = performance.now()
  const first = steps[0]
  const engine = first && engines.get(first.plugin.engine)
  try {
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
  } catch (error) {
    const seconds = (performance.now() - startedAt) / 1000
    metrics.transformed({ outcome: outcomeOf(error, context.signal), seconds })
    throw error
  }
}

/** A watermark is drawn beside the picture, and is as able to hang as that. */
async function forecastOfNamed(
  engines: DispatchOptions['engines'],
  { param, key, step }: NamedFile,
  context: EngineContext,
): Promise<Pick<Forecast, 'bytes' | 'mayHang'>> {
  const asset = await context.asset(key)
  const engine = engines.get(step.plugin.engine)
  if (!engine) return { bytes: asset.size, mayHang: false }
  return engine.forecast(asset, [], context).catch((cause) => {
    throw ofAsset(param, cause)
  })
}
