import type { Box } from '../geometry/box.ts'
import type { EngineName, Engines, TransformContext } from './plugin.ts'

/** A plugin that sees what is in a picture, faces for one, so that a cut keeps it. At most one is loaded. */
export interface DetectorPlugin<E extends EngineName = EngineName> {
  /** Unique among all plugins. */
  name: string
  engine: E
  /** Raise it when it detects otherwise, so that nothing stale is served. From 1, the default. */
  version?: number
  /** Settings with their defaults; `config/chain.json` may give others. */
  options?: Readonly<Record<string, unknown>>
  /**
   * @param draft of one still picture, upright, as large as `context.source` says; the detector's own, to resize as it needs
   * @returns boxes in pixels of `context.source`; what is outside the picture is cut off. None: nothing was seen
   */
  detect(draft: Engines[E]['draft'], context: DetectContext<E>): readonly Box[] | Promise<readonly Box[]>
}

export type DetectContext<E extends EngineName = EngineName> = Pick<
  TransformContext<E>,
  'source' | 'options' | 'signal' | 'log'
>

/** Types a detector plugin. */
export function defineDetector<E extends EngineName>(plugin: DetectorPlugin<E>): DetectorPlugin<E> {
  return plugin
}
