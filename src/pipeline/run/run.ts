import type { CpuPayer } from '../../core/budgets/cpu-time.ts'
import type { Asset } from '../../core/bytes/asset.ts'
import { type Box, clippedBox } from '../../core/geometry/box.ts'
import { formatOfMediaType, knownFormat } from '../../core/media/formats.ts'
import type { ProxyName, ProxySide } from '../../core/media/smaller-copies.ts'
import type { EachFrame, Engine, EngineContext, EngineName, Opened } from '../../core/plugin-api/plugin.ts'
import { Problem } from '../../core/problem.ts'
import { notTransformable } from '../../core/transform-problems.ts'
import type { LoadedDetector } from '../load/load.ts'
import type { Plan, Step } from '../plan/plan.ts'

/** Runs a plan that has steps. @throws Problem 422 for a source that cannot be transformed */
export type Runner = (plan: Plan, source: Asset, context: EngineContext) => Promise<Asset>

/** A {@link Runner} that also needs the payer of the work. */
export type WorkRunner = (plan: Plan, source: Asset, context: WorkContext) => Promise<Asset>

export interface WorkContext extends EngineContext, CpuPayer {
  /** The stored smaller copies of the source; absent for a source that may have none. */
  proxies?: StoredProxies
}

/** Smaller copies of an original, stored next to it. */
export interface StoredProxies {
  /** Whether a smaller copy is rendered now, and not a derivative for a client. */
  isForCopy: boolean
  /** Never throws: without a copy the source is used. */
  find(name: ProxyName): Promise<Asset | undefined>
  /**
   * Asks for a copy of this side, which would have been useful. Each call counts.
   *
   * @param how.fromLarger whether a larger copy was used instead
   * @returns the side of the copy that is worth its cost by now: of the largest one that would have been useful, unless a larger one
   *   was used. Undefined when none is, or when it is being rendered
   */
  askFor(name: ProxyName, how: { fromLarger: boolean }): ProxySide | undefined
  /**
   * Renders and stores a copy in the background, unless it exists. Never throws.
   * @param how.atOnce without waiting for idle time: the pixels are in memory at this moment
   * @returns a promise that resolves when this has ended
   */
  make(name: ProxyName, how: { atOnce: boolean }): Promise<void>
}

/**
 * Creates a runner for these engines. Consecutive steps of one engine share a draft: one decode and one encode,
 * whatever their number. When the engine changes, the output of one is the source of the next.
 */
export function createRunner(engines: ReadonlyMap<EngineName, Engine>): Runner {
  return async (plan, source, context) => {
    let asset = source
    let made: string | undefined
    for (const steps of runsOfOneEngine(plan.steps)) {
      asset = await runEngine(engines, { ...plan, steps, made }, asset, context)
      made = steps.find(({ plugin }) => plugin.makes !== undefined)?.plugin.makes
    }
    return asset
  }
}

async function runEngine(
  engines: ReadonlyMap<EngineName, Engine>,
  { steps, detector, made }: Plan & { made: string | undefined },
  source: Asset,
  context: EngineContext,
): Promise<Asset> {
  const name = steps[0]?.plugin.engine
  const engine = name && engines.get(name)
  if (!engine) throw new Error(`there is no engine called ${name}`)
  // A smaller copy is opened as the image that it replaces.
  const format = source.copyOf ? knownFormat(source.copyOf.format) : formatOfMediaType(source.mediaType)
  const openings = steps.map(({ plugin, params }) => plugin.opening?.(params, { format }))
  const opening = Object.assign({}, ...openings)
  const opened = await engine.open(source, opening, context)
  let { draft } = opened
  let facts = made === undefined ? opened.source : madeFacts(opened.source, made)
  const open = (asset: Asset, how: typeof opening) => engine.open(asset, how, context)
  let doing = ''
  const rendering = `rendering ${steps.map(({ plugin }) => plugin.name).join(', ')}`
  // Drafts that the current step has rendered for inspection. The next step may change the draft, so these are valid
  // for one step only.
  const rendered = new Map<typeof draft, Asset>()
  /** Renders within a step: what fails then are the edits of all steps. */
  const inStep = async <T>(work: () => Promise<T>): Promise<T> => {
    const before = doing
    doing = rendering
    const outcome = await work()
    doing = before
    return outcome
  }
  const render = async (unrendered: typeof draft) => {
    const asset = await inStep(() => engine.render(unrendered, context, facts))
    rendered.set(unrendered, asset)
    return asset
  }
  let pass: string[] = []
  const settle = async (unsettled: typeof draft, each?: EachFrame) => {
    const settle = () => engine.settle({ draft: unsettled, source: facts }, context, each)
    const settled = await (each ? settle() : inStep(settle))
    facts = settled.source
    pass = []
    return settled
  }
  const frames = (unsettled: typeof draft) => engine.frames({ draft: unsettled, source: facts }, context)
  const detect = detector?.plugin.engine === name ? detection(detector, context) : undefined
  try {
    for (const [i, { plugin, params, options }] of steps.entries()) {
      context.signal.throwIfAborted()
      if (plugin.newPass && i > 0) {
        doing = `rendering the steps before ${plugin.name}`
        draft = (await settle(draft)).draft
      }
      doing = `the plugin ${plugin.name}`
      rendered.clear()
      const tools = { source: facts, options, pass, settle, frames, detect, render, open, refuse }
      const outcome = await plugin.transform(draft, params, { ...context, ...tools })
      if (isOpened(outcome)) ({ draft, source: facts } = outcome)
      else draft = outcome ?? draft
      pass = [...pass, plugin.name]
    }
    doing = rendering
    return rendered.get(draft) ?? (await engine.render(draft, context, facts))
  } catch (cause) {
    context.signal.throwIfAborted()
    if (cause instanceof Problem) throw cause
    await engine.verify(source, opening, context)
    throw new Error(`${doing} failed`, { cause })
  } finally {
    await engine.close?.(opened)
  }
}

/**
 * The facts about an image that an earlier step has made. One with transparency may be a PNG, but without `f` it becomes
 * what the plan states.
 */
function madeFacts(facts: Opened['source'], format: string): Opened['source'] {
  if (!('reduction' in facts) || facts.format === format) return facts
  return { ...facts, format, file: undefined }
}

function refuse(detail: string): never {
  throw notTransformable(detail)
}

function isOpened(outcome: unknown): outcome is Opened {
  return typeof outcome === 'object' && outcome !== null && 'draft' in outcome && 'source' in outcome
}

/** @returns detected boxes; parts outside the image are cut off */
function detection({ plugin, options }: LoadedDetector, { signal, log }: EngineContext) {
  return async ({ draft, source }: Opened): Promise<readonly Box[]> => {
    if (!('width' in source)) throw new Error(`the detector ${plugin.name} accepts only images`)
    const boxes: unknown = await plugin.detect('clone' in draft ? draft.clone() : draft, {
      source,
      options,
      signal,
      log,
    })
    if (!Array.isArray(boxes) || !boxes.every(isBox)) {
      const expected = 'expected an array of boxes with left, top, width and height, in pixels'
      throw new Error(`the detector ${plugin.name}: ${expected}, but received ${JSON.stringify(boxes)}`)
    }
    return boxes.flatMap((box) => clippedBox(box, source) ?? [])
  }
}

function isBox(box: Partial<Box> | undefined): box is Box {
  return [box?.left, box?.top, box?.width, box?.height].every((number) => Number.isFinite(number))
}

/** Groups consecutive steps of one engine. */
export function runsOfOneEngine(steps: readonly Step[]): Step[][] {
  const runs: Step[][] = []
  for (const step of steps) {
    const last = runs.at(-1)
    if (last?.[0]?.plugin.engine === step.plugin.engine) last.push(step)
    else runs.push([step])
  }
  return runs
}
