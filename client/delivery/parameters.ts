import type { BuiltInParameters } from '../generated/parameters.ts'

/**
 * The parameters of delivery URLs. `npx sluice types` writes those of an installation's own plugins, as an augmentation of this
 * interface.
 */
export interface TransformParameters extends BuiltInParameters {
  /** A preset: a name for a set of parameters. */
  preset?: string
  /** Browsers save the file. A text is the name of the saved file. */
  download?: boolean | string
  /** Waits for a media job, in seconds from 1 to 30. */
  wait?: number
}
