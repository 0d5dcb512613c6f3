import type { Asset } from '../bytes/asset.ts'
import type { Box, Size } from '../geometry/box.ts'
import type { Log } from '../log.ts'
import type { MediaGroup } from '../media/groups.ts'
import type { Forecast } from './forecast.ts'
import type { TransformLimits } from './limits.ts'
import type { ParameterSpecs, ParameterValues } from './parameter.ts'
import type { PlanRequest } from './plan-request.ts'

/**
 * The phases of the chain, in order. A plugin runs in its phase. `compose` adds parts that no effect may change
 * (padding, watermarks, rounded corners). Within a phase `config/chain.json` sets the order, otherwise the name.
 */
export const PHASES = ['prepare', 'geometry', 'effect', 'compose', 'encode'] as const
export type Phase = (typeof PHASES)[number]

/**
 * The types of each engine: the `draft` that its plugins edit, its facts about the `source`, and how a source may be
 * opened (`opening`). Engines add themselves here.
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging, one member per engine
export interface Engines {}
export type EngineName = keyof Engines

/**
 * One transform: its accepted parameters, as data, and its effect on the engine's draft. A plain object with these
 * members, exported as default from a file in `plugins/`, is a plugin; {@link definePlugin} adds types.
 */
export interface TransformPlugin<
  P extends ParameterSpecs = ParameterSpecs,
  E extends EngineName = EngineName,
> {
  /** Unique name: `image-sepia`. */
  name: string
  /** The version of the plugin API that the plugin needs. A Sluice with an earlier version refuses it. Default: 1. */
  api?: number
  engine: E
  phase: Phase
  /** Media groups of the sources; by default those of the engine: `['image']` for sharp. */
  media?: readonly MediaGroup[]
  /** The plugin runs when a query names one of these. */
  params: P
  /** Runs in every plan whose query names at least one parameter. */
  always?: boolean
  /**
   * Starts a new pass: the steps before are first rendered to pixels, without loss. An engine such as sharp collects
   * all operations and orders them itself. There, this makes the step really run after the earlier ones.
   */
  newPass?: boolean
  /**
   * Which image the step holds in memory as pixels, for these values: because it calls `settle` or `frames`, or
   * because it reads all of the image before it draws. `source` is the image before the resize, `outcome` the one
   * after it. The engine's forecast uses this. With `newPass` the outcome is held in any case.
   */
  holds?(
    params: ParameterValues<P>,
    source: { format: string; pages: number },
  ): 'source' | 'outcome' | undefined
  /**
   * The least source with which the output is the same, so that a smaller copy of a large source can be used instead:
   * the size to which the step scales the whole source, `any` when every size will do, or `outcome` for a step that
   * only changes what the earlier steps have rendered. Undefined, and without this member: the step needs the source
   * itself. In `transform`, `source` has the size of the source itself in any case.
   */
  needs?(params: ParameterValues<P>, context: NeedsContext): Size | 'any' | 'outcome' | undefined
  /**
   * Memory that the step needs in addition to the pixels, in bytes: that of a model, for example. A transformation with such a step
   * runs in a process that can be killed, never in the web process.
   */
  memoryBytes?: number
  /** Set for a step that makes parts of any image transparent. Without `f`, a JPEG then becomes a PNG. */
  transparent?: boolean
  /**
   * The format of the output when that is not in the source's group: `jpeg` for a frame of a video. The step is then
   * the first of its plan, and the other parameters of the query belong to plugins for the new group. One of `IMAGE_OUTPUTS`, or `pdf`.
   */
  makes?: string
  /**
   * For a step whose output is several files: the name of the entry, one of those in `core/files/bundle.ts`. The
   * first of its parameters is a flag. In the derivative's key it has no value.
   */
  entry?: string
  /** Set for a step after which the image is the whole original, upright, in its own size. */
  keepsSize?: boolean
  /** Set for steps that hide content, such as a blur. The original is then never delivered instead of the output. */
  noOriginalFallback?: boolean
  /** Raise it when the output changes, so that no stale derivative is served. From 1, the default. */
  version?: number
  /** Settings with their defaults; `config/chain.json` may override them. Part of the plan's fingerprint. */
  options?: Readonly<Record<string, unknown>>
  /** Checks the settings when the plugin is loaded. @throws Error that names the wrong one, which stops the start */
  checkOptions?(options: Readonly<Record<string, unknown>>): void
  /**
   * Additional values for parameters of type `enum`, by the parameter's name. For values that depend on the options,
   * such as the fonts in a folder. Called once, at the start. An error stops the start.
   */
  choices?(options: Readonly<Record<string, unknown>>): { readonly [N in keyof P]?: readonly string[] }
  /** How the source must be opened for these values, before any step runs: for example only its first frame. */
  opening?(params: ParameterValues<P>, request: Pick<PlanRequest, 'format'>): Partial<Engines[E]['opening']>
  /**
   * Resolves the requested values before the derivative is named: `f=auto` to `f=webp`, a value without effect to its
   * default. The derivative's name has the values that differ from the default.
   * @returns all values; undefined when this plugin has nothing to do; `'original'` when the stored original is the
   *   requested output, whatever the other plugins do
   */
  resolve?(params: ParameterValues<P>, request: PlanRequest): ParameterValues<P> | 'original' | undefined
  /**
   * Edits the draft, or returns another one. A step that changes the facts that later steps need, such as the size,
   * returns them too: `{ draft, source }`.
   */
  transform(
    draft: Engines[E]['draft'],
    params: ParameterValues<P>,
    context: TransformContext<E>,
  ): TransformResult<E>
}

/** The source and the limits for {@link TransformPlugin.needs}. */
export interface NeedsContext {
  /** `format`: by Sluice's name. `isBound`: the size is an upper bound, for a page of a document. */
  source: Size & { format: string; isBound?: true }
  limits: TransformLimits
}

type TransformResult<E extends EngineName> = TransformOutcome<E> | Promise<TransformOutcome<E>>
type TransformOutcome<E extends EngineName> = Engines[E]['draft'] | Opened<E> | undefined

/** The arguments of a transform in addition to draft and parameters. */
export interface TransformContext<E extends EngineName = EngineName> {
  /**
   * The engine's facts about the image at the start of this pass: for sharp the size, the pages, and the format of
   * the original.
   */
  source: Engines[E]['source']
  /** The plugin's settings: its defaults, overridden by `config/chain.json`. */
  options: Readonly<Record<string, unknown>>
  /** The plugins that have edited the draft since this pass began, by name. */
  pass: readonly string[]
  /**
   * Starts a new pass within a step: renders the draft so far to pixels, without loss. Returns a draft of the outcome
   * and its facts, which later steps receive too.
   * @param each changes each frame separately, for operations that the engine does not apply to animations; all
   *   frames must get the same size
   */
  settle(draft: Engines[E]['draft'], each?: EachFrame<E>): Promise<Opened<E>>
  /**
   * Renders a draft to inspect the result, for example its size in bytes. When the last step returns this same draft,
   * the result is sent without a second render.
   */
  render(draft: Engines[E]['draft']): Promise<Asset>
  /**
   * Returns the file that a parameter of type `key` names, another original of the same client. It was found before
   * the first step; its bytes are not read yet.
   */
  asset(key: string): Promise<Asset>
  /**
   * Opens another file in the way of the source, within the same limits.
   * @throws Problem 422 when it is broken or exceeds a limit
   */
  open(asset: Asset, opening: Partial<Engines[E]['opening']>): Promise<Opened<E>>
  /**
   * Renders the draft so far, and returns each frame of an animation separately; one frame for a still image. The
   * draft itself does not change. Its format is that of the last step.
   */
  frames(draft: Engines[E]['draft']): Promise<Array<Opened<E>>>
  /**
   * Runs the detector plugin. The boxes are in pixels of `opened.source`, within it. The draft does not change.
   * Undefined when the plan has not called {@link PlanRequest.detects}, or no detector is loaded.
   */
  detect: ((opened: Opened<E>) => Promise<readonly Box[]>) | undefined
  /** Ends the transformation with Problem 422, because of what the file contains. @param detail a sentence for the client */
  refuse(detail: string): never
  /** Aborts when the time limit is reached or no caller waits any more. */
  signal: AbortSignal
  limits: TransformLimits
  log: Log
}

/** Opens a source once, lets plugins edit the draft, renders once. */
export interface Engine<E extends EngineName = EngineName> {
  name: E
  /** Media groups of its plugins, unless they name others. */
  media: readonly MediaGroup[]
  /**
   * Estimates the cost of these steps from the source's header, before the work waits for its turn. Without steps:
   * the cost of laying the source over another file, as a watermark.
   * @throws Problem 422 for a source that is broken or exceeds a limit, judged by its header alone
   */
  forecast(source: Asset, steps: readonly ForecastStep[], context: EngineContext): Promise<Forecast>
  /** @throws Problem 422 for a source that is broken or exceeds a limit, before the costly part of the work */
  open(source: Asset, opening: Partial<Engines[E]['opening']>, context: EngineContext): Promise<Opened<E>>
  /**
   * @param source the facts after the last step, for parts of the output that the draft does not have
   * @throws Problem 422 for a limit of time or of the format; `verify` explains any other error
   */
  render(draft: Engines[E]['draft'], context: EngineContext, source?: Engines[E]['source']): Promise<Asset>
  /** Releases the resources of `open`, such as a temporary file. Called once, with or without an error. */
  close?(opened: Opened<E>): Promise<void>
  /** Renders the draft so far, without loss, and returns a draft of the outcome. */
  settle(opened: Opened<E>, context: EngineContext, each?: EachFrame<E>): Promise<Opened<E>>
  /** Renders the draft so far, and returns each frame separately. */
  frames(opened: Opened<E>, context: EngineContext): Promise<Array<Opened<E>>>
  /**
   * Reads all of a source, after a failure, to distinguish a broken image from a broken plugin.
   * @throws Problem 422 when the source is broken
   */
  verify(source: Asset, opening: Partial<Engines[E]['opening']>, context: EngineContext): Promise<void>
}

/** A plugin and the values that it will receive. */
export interface ForecastStep {
  plugin: TransformPlugin
  params: Readonly<Record<string, unknown>>
}

export type Opened<E extends EngineName = EngineName> = Pick<Engines[E], 'draft' | 'source'>

/** Changes one frame, a still image. */
export type EachFrame<E extends EngineName = EngineName> = (
  frame: Engines[E]['draft'],
  source: Engines[E]['source'],
) => Engines[E]['draft'] | Promise<Engines[E]['draft']>

export interface EngineContext extends Pick<TransformContext, 'asset' | 'signal' | 'limits' | 'log'> {
  /** Reports the progress of long work, from 0 to 1. */
  progress?(fraction: number): void
  /** Called with the CPU time in milliseconds of each process that was started for the work and has ended. */
  spent?(cpuMs: number): void
  /**
   * Registers a cleanup for the time when the rendered output is no longer used, whether it was stored or not: for
   * example, to delete a rendered file.
   */
  afterwards(remove: () => Promise<void>): void
  /**
   * Stores a part of an output with several files. `render` stores all parts before it returns the entry. A part of
   * the same name replaces the one before. A stored part can be read at once.
   * @throws errors of the bucket, Problem 404 when the original has been deleted, `signal.reason`
   */
  storePart(name: string, part: Asset): Promise<void>
}

/** Adds types to a transform plugin: `params` determines the values that `transform` receives. */
export function definePlugin<const P extends ParameterSpecs, E extends EngineName>(
  plugin: TransformPlugin<P, E>,
): TransformPlugin<P, E> {
  return plugin
}
