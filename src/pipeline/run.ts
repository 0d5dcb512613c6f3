import type { Asset } from '../core/asset.ts'
import { formatOfMediaType } from '../core/media.ts'
import type { Engine, EngineContext, EngineName } from '../core/plugin.ts'
import { Problem } from '../core/problem.ts'
import type { Plan, Step } from './plan.ts'

/** Carries out a plan that has steps. @throws Problem 422 for a source that cannot be transformed */
export type Runner = (plan: Plan, source: Asset, context: EngineContext) => Promise<Asset>

/**
 * Makes a runner over the engines. Consecutive steps of one engine share a draft: one decode and one encode, whatever
 * their number. A change of engine renders, and opens what was rendered.
 */
export function createRunner(engines: ReadonlyMap<EngineName, Engine>): Runner {
  return async (plan, source, context) => {
    let asset = source
    for (const steps of runsOfOneEngine(plan.steps)) asset = await runEngine(engines, steps, asset, context)
    return asset
  }
}

async function runEngine(
  engines: ReadonlyMap<EngineName, Engine>,
  steps: readonly Step[],
  source: Asset,
  context: EngineContext,
): Promise<Asset> {
  const name = steps[0]?.plugin.engine
  const engine = name && engines.get(name)
  if (!engine) throw new Error(`there is no engine called ${name}`)
  const format = formatOfMediaType(source.mediaType)
  const openings = steps.map(({ plugin, params }) => plugin.opening?.(params, { format }))
  const opening = Object.assign({}, ...openings)
  let { draft, source: facts } = await engine.open(source, opening, context)
  let doing = ''
  // What the running step has rendered to look at; the step after it may change the draft, so it holds for one only.
  const rendered = new Map<typeof draft, Asset>()
  const render = async (unrendered: typeof draft) => {
    const asset = await engine.render(unrendered, context)
    rendered.set(unrendered, asset)
    return asset
  }
  const settle = async (unsettled: typeof draft) => {
    const settled = await engine.settle({ draft: unsettled, source: facts }, context)
    facts = settled.source
    return settled
  }
  try {
    for (const [i, { plugin, params, options }] of steps.entries()) {
      context.signal.throwIfAborted()
      if (plugin.newPass && i > 0) {
        doing = `rendering what comes before ${plugin.name}`
        draft = (await settle(draft)).draft
      }
      doing = `the plugin ${plugin.name}`
      rendered.clear()
      const earlier = steps.slice(0, i).map((step) => step.plugin.name)
      const step = { ...context, source: facts, options, earlier, settle, render }
      draft = (await plugin.transform(draft, params, step)) ?? draft
    }
    doing = `rendering ${steps.map(({ plugin }) => plugin.name).join(', ')}`
    return rendered.get(draft) ?? (await engine.render(draft, context))
  } catch (cause) {
    context.signal.throwIfAborted()
    if (cause instanceof Problem) throw cause
    await engine.verify(source, opening, context)
    throw new Error(`${doing} failed`, { cause })
  }
}

function runsOfOneEngine(steps: readonly Step[]): Step[][] {
  const runs: Step[][] = []
  for (const step of steps) {
    const last = runs.at(-1)
    if (last?.[0]?.plugin.engine === step.plugin.engine) last.push(step)
    else runs.push([step])
  }
  return runs
}
