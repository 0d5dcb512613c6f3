import { Problem } from '../../core/problem.ts'
import { outputOf, type Running } from './process.ts'

/** The installed ffmpeg programs. */
export interface Programs {
  /** The names of the missing programs, of ffmpeg and ffprobe. */
  missing(): Promise<string[]>
  /** Whether ffmpeg was built with all of these filters. */
  have(filters: readonly string[]): Promise<boolean>
}

const LOOK_MS = 10_000
const LOOK_AGAIN_MS = 10_000
// Each of 450 filters is a line of 90 bytes.
const MAX_PRINTED_BYTES = 500_000

/** Looks for the programs until both are found. When one is removed later, its next call returns 501. */
export function createPrograms(env: Running['env']): Programs {
  const ask = (program: 'ffmpeg' | 'ffprobe', option: string) => {
    const { signal } = new AbortController()
    const running = { signal, timeoutMs: LOOK_MS, env, maxBytes: MAX_PRINTED_BYTES }
    return outputOf(program, ['-hide_banner', option], running)
  }
  const isInstalled = (program: 'ffmpeg' | 'ffprobe') =>
    ask(program, '-version').then(
      () => true,
      // Other errors show when the program is called.
      (error) => !(error instanceof Problem && error.status === 501),
    )
  const look = async () => {
    const names = ['ffmpeg', 'ffprobe'] as const
    const missing = await Promise.all(names.map(async (name) => ((await isInstalled(name)) ? [] : [name])))
    return missing.flat()
  }
  let found: Promise<string[]> | undefined
  let lookedAt = 0
  let filters: Promise<ReadonlySet<string>> | undefined

  return {
    async missing() {
      const last = await found
      if (last?.length === 0) return last
      if (last === undefined || Date.now() - lookedAt > LOOK_AGAIN_MS) {
        lookedAt = Date.now()
        found = look()
      }
      return (await found) ?? []
    },

    async have(names) {
      filters ??= ask('ffmpeg', '-filters').then(filtersIn)
      try {
        const known = await filters
        return names.every((name) => known.has(name))
      } catch (error) {
        filters = undefined
        throw error
      }
    },
  }
}

/** Parses the names in the output of `ffmpeg -filters`: ` T.C name  V->V  description`. */
function filtersIn(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/^ \S{2,3} (\w+) +\S+->\S+/gm)].map(([, name = '']) => name))
}
