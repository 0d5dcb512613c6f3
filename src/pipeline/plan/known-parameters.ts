import type { MediaGroup } from '../../core/media/groups.ts'
import type { ParameterSpec } from '../../core/plugin-api/parameter.ts'

/** The parameters of one media group by every name. */
export interface Known {
  group: MediaGroup
  /** The group of the output, when a parameter changes it. */
  made?: MediaGroup
  words: Words
  /**
   * For each name of a parameter whose plugin renders another group of files: the parameters of a query with that
   * name.
   */
  makers: ReadonlyMap<string, Known>
  /** Set with `made`: the parameter that changes the output, and the parameters of the file without it. */
  without?: { maker: string; words: Words }
  /** Parameters of images, for documents and other files of which only some are shown as images. */
  ofImages?: Words
}
export type Words = ReadonlyMap<string, { name: string; spec: ParameterSpec }>
