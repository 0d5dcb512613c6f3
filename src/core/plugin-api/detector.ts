import type { Box } from '../geometry/box.ts'
import type { EngineName, Engines, TransformContext } from './plugin.ts'

/** A plugin that detects objects in an image, such as faces, so that a crop includes them. At most one is loaded. */
export interface DetectorPlugin<E extends EngineName = EngineName> {
  /** Unique among all plugins. */
  name: string
  /** The version of the plugin API that the plugin needs, as in `TransformPlugin`. */
  api?: number
  engine: E
  /** Raise it when the plugin detects differently, so that no stale derivative is served. From 1, the default. */
  version?: number
  /** Settings with their defaults; `config/chain.json` may override them. */
  options?: Readonly<Record<string, unknown>>
  /**
   * Detects objects in one still image.
   *
   * @param draft the upright image, of the size `context.source`; the plugin may resize it
   * @returns boxes in pixels of `context.source`; parts outside the image are cut off. An empty list when nothing was
   *   detected
   */
  detect(draft: Engines[E]['draft'], context: DetectContext<E>): readonly Box[] | Promise<readonly Box[]>
}

export type DetectContext<E extends EngineName = EngineName> = Pick<
  TransformContext<E>,
  'source' | 'options' | 'signal' | 'log'
>

/** Adds types to a detector plugin. */
export function defineDetector<E extends EngineName>(plugin: DetectorPlugin<E>): DetectorPlugin<E> {
  return plugin
}
