import type { Asset } from '../../core/bytes/asset.ts'
import type { Log } from '../../core/log.ts'
import type { TransformLimits } from '../../core/plugin-api/limits.ts'
import type { Children } from '../../core/ports/children.ts'
import type { PluginSet } from '../load/load.ts'
import type { Plan } from '../plan/plan.ts'
import { refuseParts } from './refuse-parts.ts'
import type { Runner } from './run.ts'

/** A plan as sent to another process with the same plugins: functions cannot be sent. */
interface SentPlan {
  variant: string
  steps: ReadonlyArray<{ name: string; fingerprint: string | undefined; params: LoadedParams }>
  /** The detector that it calls. */
  detector?: { name: string; fingerprint: string | undefined }
}
type LoadedParams = Plan['steps'][number]['params']

interface SentTask {
  plan: SentPlan
  limits: TransformLimits
}

/** Creates a runner that runs plans in child processes, which can be killed at any time. */
export function createChildRunner(children: Children): Runner {
  return (plan, source, context) => {
    const { asset, signal, limits, log, spent } = context
    const task: SentTask = { plan: sentPlan(plan), limits }
    return children.run({ task, source, asset, signal, timeoutMs: limits.timeoutMs, spent, log })
  }
}

/** Runs plans in a child process, with the plugins that this process has loaded. */
export function runInChild(run: Runner, plugins: Pick<PluginSet, 'transforms' | 'detector'>) {
  return async (task: unknown, given: { source: Asset; asset(name: string): Promise<Asset>; log: Log }) => {
    const { plan, limits } = task as SentTask
    const { asset, log } = given
    // The parent never aborts a plan. It kills this process.
    const { signal } = new AbortController()
    // Output of this process is in memory, so there is nothing to remove.
    const context = { signal, limits, log, asset, afterwards() {}, storePart: refuseParts }
    return run(receivedPlan(plan, plugins), given.source, context)
  }
}

function sentPlan({ variant, steps, detector }: Plan): SentPlan {
  return {
    variant,
    steps: steps.map(({ plugin, fingerprint, params }) => ({ name: plugin.name, fingerprint, params })),
    ...(detector ? { detector: { name: detector.plugin.name, fingerprint: detector.fingerprint } } : {}),
  }
}

/**
 * Rebuilds the plan with the plugins of this process.
 * @throws Error when a plugin differs from that of the process that sent the plan: a drop-in was edited in between
 */
function receivedPlan(
  { variant, steps, detector }: SentPlan,
  plugins: Pick<PluginSet, 'transforms' | 'detector'>,
): Plan {
  const detectors = plugins.detector ? [plugins.detector] : []
  return {
    variant,
    variesBy: [],
    notes: [],
    steps: steps.map(({ params, ...sent }) => ({ ...sameAs(sent, plugins.transforms), params })),
    ...(detector ? { detector: sameAs(detector, detectors) } : {}),
  }
}

function sameAs<L extends { plugin: { name: string }; fingerprint: string | undefined }>(
  { name, fingerprint }: { name: string; fingerprint: string | undefined },
  all: readonly L[],
): L {
  const loaded = all.find(({ plugin }) => plugin.name === name)
  if (loaded && loaded.fingerprint === fingerprint) return loaded
  throw new Error(`The plugin ${name} has changed on disk. Restart the server.`)
}
