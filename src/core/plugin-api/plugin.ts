import type { Asset } from '../bytes/asset.ts'
import type { Box } from '../geometry/box.ts'
import type { Log } from '../log.ts'
import type { Format } from '../media/formats.ts'
import type { MediaGroup } from '../media/groups.ts'
import type { TransformLimits } from './limits.ts'
import type { ParameterSpecs, ParameterValues } from './parameter.ts'

/**
 * Where in the chain a plugin runs, first to last: `compose` adds what no effect shall touch (padding, watermarks, round
 * corners). Within a phase: `config/chain.json`, else the name.
 */
export const PHASES = ['prepare', 'geometry', 'effect', 'compose', 'encode'] as const
export type Phase = (typeof PHASES)[number]

/**
 * Of each engine: the `draft` its plugins edit, what it knows of the `source`, and how a source may be opened
 * (`opening`). Engines add themselves here.
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging, one member per engine
export interface Engines {}
export type EngineName = keyof Engines

/**
 * One transform: what it accepts, as data, and what it does to its engine's draft. A plain object with these members,
 * exported as default from a file in `plugins/`, is a plugin; {@link definePlugin} adds types.
 */
export interface TransformPlugin<
  P extends ParameterSpecs = ParameterSpecs,
  E extends EngineName = EngineName,
> {
  /** Unique: `image-sepia`. */
  name: string
  engine: E
  phase: Phase
  /** What it is for; by default what the engine makes: `['image']` for sharp. */
  media?: readonly MediaGroup[]
  /** The plugin runs when a query names one of these. */
  params: P
  /** Joins every plan that some parameter has started. */
  always?: boolean
  /**
   * Begins a new pass: what the steps before have asked for is rendered to pixels first, without loss. For an engine
   * that gathers what it is asked for and orders it itself, as sharp does, this puts the step truly after them.
   */
  newPass?: boolean
  /**
   * What of the picture it has in memory as pixels while it works with these values: with `settle` or `frames`, or since
   * it looks at all of it before it draws any. `source` is in the size before it is resized, `outcome` in that after. The
   * engine's forecast reckons with it; with `newPass`, the outcome is held in any case.
   */
  holds?(params: ParameterValues<P>): 'source' | 'outcome' | undefined
  /**
   * The format of what comes of it, where that is no file of the source's group any more: `jpeg` for a frame of a video. It
   * is then the first step of its plan, and what else the query names are parameters of plugins for the new group.
   */
  makes?: string
  /**
   * Where several files come of it: the name of the one that leads to the others, of those in `core/files/bundle.ts`. The first of
   * its parameters is a flag, and stands in the derivative's key without a value.
   */
  entry?: string
  /** Marks or hides something: the original never stands in for its outcome, also with `onLimit: original`. */
  noOriginalFallback?: boolean
  /** Raise it when the output changes, so that nothing stale is served. From 1, the default. */
  version?: number
  /** Settings with their defaults; `config/chain.json` may give others. Part of the plan's fingerprint. */
  options?: Readonly<Record<string, unknown>>
  /** Looks at the settings as the plugin loads. @throws Error that says which is wrong, which stops the start */
  checkOptions?(options: Readonly<Record<string, unknown>>): void
  /**
   * More values for parameters of type `enum`, by the parameter's name: those that depend on the options, such as the
   * fonts in a folder. Asked once, at the start; what it throws stops the start.
   */
  choices?(options: Readonly<Record<string, unknown>>): { readonly [N in keyof P]?: readonly string[] }
  /** How the source must be opened for these values, before any step runs: only its first frame, say. */
  opening?(params: ParameterValues<P>, request: Pick<PlanRequest, 'format'>): Partial<Engines[E]['opening']>
  /**
   * Turns what was asked into what will be done, before the derivative is named: `f=auto` into `f=webp`, a value
   * without effect into its default. A derivative is named by the values that are not the default.
   * @returns the values to use, all of them; undefined when nothing is to be done by this plugin; `'original'` when
   *   the original as it lies in the bucket is what was asked for, whatever the other plugins do
   */
  resolve?(params: ParameterValues<P>, request: PlanRequest): ParameterValues<P> | 'original' | undefined
  /**
   * Edits the draft, or answers with another in its place. One that has changed what later steps have to know of the
   * picture, its size for one, answers with that as well: `{ draft, source }`.
   */
  transform(
    draft: Engines[E]['draft'],
    params: ParameterValues<P>,
    context: TransformContext<E>,
  ): TransformResult<E>
}

type TransformResult<E extends EngineName> = TransformOutcome<E> | Promise<TransformOutcome<E>>
type TransformOutcome<E extends EngineName> = Engines[E]['draft'] | Opened<E> | undefined

/** What is known when a plan is made. */
export interface PlanRequest {
  /** The source's format. */
  format: Format
  /** The request's `Accept` header. Reading it makes the answer vary by it, and caches are told so. */
  accept(): string
  /** Names of formats that have turned out to be too small for this picture: for `resolve` to choose another. */
  tooSmall: readonly string[]
  /** Canonical names of all parameters that the query sets, also those of other plugins. */
  named: ReadonlySet<string>
  /** The plugin's settings: its own defaults under those of `config/chain.json`. */
  options: Readonly<Record<string, unknown>>
  /** Whether a plugin is loaded that detects what is in a picture. Who acts on it makes it part of the plan. */
  detects(): boolean
  /** Tells the caller, in a header, of something that is done otherwise than asked: `func=auto for face: …`. */
  note(text: string): void
}

/** What a transform gets beside draft and parameters. */
export interface TransformContext<E extends EngineName = EngineName> {
  /** What the engine knows of the picture as this pass began: for sharp its size and pages, and the original's format. */
  source: Engines[E]['source']
  /** The plugin's settings: its own defaults under those of `config/chain.json`. */
  options: Readonly<Record<string, unknown>>
  /** The plugins that have asked something of the draft since this pass began, by name. */
  pass: readonly string[]
  /**
   * Begins a new pass within a step: what has been asked of the draft so far is rendered to pixels, without loss. Answers
   * with a draft of the outcome and what is known of it, which is also what later steps get.
   * @param each changes every frame by itself, for what the engine does to no animation; all to the same size
   */
  settle(draft: Engines[E]['draft'], each?: EachFrame<E>): Promise<Opened<E>>
  /**
   * Renders a draft, to see what comes of it: how many bytes, for example. When the last step of all answers with that
   * same draft, this is what is sent; it is not rendered again.
   */
  render(draft: Engines[E]['draft']): Promise<Asset>
  /**
   * The file that a parameter of type `key` names: another original of the same client. It has been found before any step
   * runs; its bytes are still to be read.
   */
  asset(key: string): Promise<Asset>
  /**
   * Opens another file as the source was opened, within the same limits.
   * @throws Problem 422 when it is broken or past a limit
   */
  open(asset: Asset, opening: Partial<Engines[E]['opening']>): Promise<Opened<E>>
  /**
   * What has been asked of the draft so far, rendered: the frames of an animation, each by itself; one of a still picture.
   * The draft goes on as it is, in a format that the last step says.
   */
  frames(draft: Engines[E]['draft']): Promise<Array<Opened<E>>>
  /**
   * What the detector plugin sees in a picture, in pixels of `opened.source`, within it. The draft stays as it is.
   * Undefined when the plan has not asked {@link PlanRequest.detects}, or nothing detects.
   */
  detect: ((opened: Opened<E>) => Promise<readonly Box[]>) | undefined
  /** Aborted when the time is over or nobody waits any more. */
  signal: AbortSignal
  limits: TransformLimits
  log: Log
}

/** Opens a source once, lets plugins edit the draft, renders once. */
export interface Engine<E extends EngineName = EngineName> {
  name: E
  /** What its plugins are for, unless they say otherwise. */
  media: readonly MediaGroup[]
  /**
   * What it will take to carry out these steps, as far as the source's header and the steps tell: asked before the work
   * waits for its turn. Without steps: to lay it over another file, as a watermark.
   * @throws Problem 422 for a source that is broken or past a limit, by its header alone
   */
  forecast(source: Asset, steps: readonly ForecastStep[], context: EngineContext): Promise<Forecast>
  /** @throws Problem 422 for a source that is broken or past a limit, before the costly part of the work */
  open(source: Asset, opening: Partial<Engines[E]['opening']>, context: EngineContext): Promise<Opened<E>>
  /** @throws Problem 422 for a limit of time or of the format; any other error is for `verify` to explain */
  render(draft: Engines[E]['draft'], context: EngineContext): Promise<Asset>
  /** Lets go of what `open` has taken, a temporary file for one: called once, however the work has ended. */
  close?(opened: Opened<E>): Promise<void>
  /** Carries out what has been asked of the draft so far, without loss, and answers with a draft of the outcome. */
  settle(opened: Opened<E>, context: EngineContext, each?: EachFrame<E>): Promise<Opened<E>>
  /** Carries out the same, and answers with each frame by itself. */
  frames(opened: Opened<E>, context: EngineContext): Promise<Array<Opened<E>>>
  /**
   * Reads all of a source: after a failure, it tells a broken picture from a broken plugin.
   * @throws Problem 422 when the source is broken
   */
  verify(source: Asset, opening: Partial<Engines[E]['opening']>, context: EngineContext): Promise<void>
}

/** What a forecast is made from: a plugin and the values it will get. */
export interface ForecastStep {
  plugin: TransformPlugin
  params: Readonly<Record<string, unknown>>
}

/** What a transformation will take. */
export interface Forecast {
  /** Memory at its peak; more rather than less. */
  bytes: number
  /** Whether nothing but its process's end may stop it. */
  mayHang: boolean
  /** Whether the engine works in a process of its own, which it ends itself. */
  ownProcess?: boolean
  /** The source, in memory when it has been read already. */
  source: Asset
}

export type Opened<E extends EngineName = EngineName> = Pick<Engines[E], 'draft' | 'source'>

/** Changes one frame, a still picture. */
export type EachFrame<E extends EngineName = EngineName> = (
  frame: Engines[E]['draft'],
  source: Engines[E]['source'],
) => Engines[E]['draft'] | Promise<Engines[E]['draft']>

export interface EngineContext extends Pick<TransformContext, 'asset' | 'signal' | 'limits' | 'log'> {
  /** Is told how much is done, from 0 to 1, of what takes minutes. */
  progress?(fraction: number): void
  /** Called with the CPU milliseconds of each process that was started for it and has ended. */
  spent?(cpuMs: number): void
  /**
   * Takes what is to be done when nobody needs what is rendered any more, stored or given up: a rendered file is removed.
   */
  afterwards(remove: () => Promise<void>): void
  /**
   * Stores a part of what is rendered, where that is several files: all of them before `render` answers with the entry, and
   * one of the same name again in place of the one before. What is stored can be read from then on.
   * @throws as a bucket does, Problem 404 when the original is deleted by now, `signal.reason`
   */
  storePart(name: string, part: Asset): Promise<void>
}

/** Types a transform plugin: `params` decides what `transform` receives. */
export function definePlugin<const P extends ParameterSpecs, E extends EngineName>(
  plugin: TransformPlugin<P, E>,
): TransformPlugin<P, E> {
  return plugin
}
