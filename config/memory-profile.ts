import { usableCores } from './machine.ts'
import { oneOf } from './variable.ts'

/** The profile, which changes the defaults of other variables. */
export const MEMORY_VARIABLES = {
  MEMORY_PROFILE: oneOf({
    words: ['standard', 'small'],
    default: 'standard',
    help: 'Defaults for the memory of the machine. small: for 512 MB, see [memory](../how-to/memory.md#512-mb). Variables that are set have priority.',
  }),
}

export type MemoryProfile = 'standard' | 'small'

// The web process takes up to 200 MB. One large transformation and one run of ffmpeg are possible in addition, but seldom have
// their peaks at the same moment.
const SMALL_DEFAULTS: Readonly<Record<string, number>> = {
  HOT_CACHE_BYTES: 8_000_000,
  TRANSFORM_MAX_MEMORY_BYTES: 250_000_000,
  MEDIA_MAX_MEMORY_BYTES: 250_000_000,
  DOCUMENT_CONCURRENCY: 1,
  TRANSFORM_WAITING: 64,
  TRANSFORM_WAITING_ADDRESS: 16,
}

/** The default of a variable in a profile, as text; undefined when the profile does not change it. */
export function profileDefault(name: string, profile: MemoryProfile): string | undefined {
  return profile === 'small' ? SMALL_DEFAULTS[name]?.toString() : undefined
}

/** The cores for transformations and for ffmpeg. Each one in use needs memory of its own. */
export function coresOf({ MEMORY_PROFILE }: { MEMORY_PROFILE: MemoryProfile }): number {
  return MEMORY_PROFILE === 'small' ? 1 : usableCores()
}
