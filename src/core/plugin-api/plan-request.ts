import type { Point, Sides, Size } from '../geometry/box.ts'
import type { Format } from '../media/formats.ts'

/** The facts that are known before the source is read. */
export interface PlanRequest {
  /** The source's format. */
  format: Format
  /** The request's `Accept` header. Reading it makes the response vary by it, and adds `Vary`. */
  accept(): string
  /** Names of formats that turned out to be too small for this image, so that `resolve` chooses another. */
  tooSmall: readonly string[]
  /** Canonical names of all parameters that the query sets, also those of other plugins. */
  named: ReadonlySet<string>
  /** Whether an earlier step makes parts of any image transparent. */
  isTransparent(): boolean
  /** The plugin's settings: its defaults, overridden by `config/chain.json`. */
  options: Readonly<Record<string, unknown>>
  /** Whether a detector plugin is loaded. A step that calls this includes detection in its plan. */
  detects(): boolean
  /**
   * The focal point that the owner of the file has set. A plugin that uses it must return it as values, so that another
   * focal point leads to another derivative.
   */
  focalPoint(): Point | undefined
  /**
   * The upright size of the original, if one of its sides is shorter than these. With it, a plugin can return the same values for
   * all requests with the same output. Undefined when the size is not known, and when an earlier step may have changed it.
   */
  sizeBelow(sides: Sides): Size | undefined
  /** The scripts of a text that no font of the machine has: their characters are drawn as boxes. */
  scriptsWithoutFont(text: string): readonly string[]
  /**
   * Adds a note for the client to a response header, when the result differs from the request: `func=auto for face:
   * …`.
   */
  note(text: string): void
}
