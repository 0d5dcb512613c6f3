import { isExecutable, pathsOf } from '../programs/path.ts'
import type { Running } from '../programs/run.ts'
import { outputOf } from './process.ts'

/** The installed ffmpeg programs. */
export interface Programs {
  /** The names of the missing programs, of ffmpeg and ffprobe. */
  missing(): Promise<string[]>
  /** Whether ffmpeg was built with all of these filters. */
  have(filters: readonly string[]): Promise<boolean>
  /** The version of ffmpeg: `5.1.6-0+deb12u1`. */
  version(): Promise<string>
  /** The names of those encoders that ffmpeg was built without. */
  lacking(encoders: readonly string[]): Promise<string[]>
}

const LOOK_MS = 10_000
const LOOK_AGAIN_MS = 10_000
// Each of 450 filters is a line of 90 bytes.
const MAX_PRINTED_BYTES = 500_000

/** Looks for the programs until both are found. When one is removed later, its next call returns 501. */
export function createPrograms(env: Running['env']): Programs {
  const look = async () => {
    const names = ['ffmpeg', 'ffprobe'] as const
    const missing = await Promise.all(names.map(async (name) => ((await isOnPath(name, env)) ? [] : [name])))
    return missing.flat()
  }
  const printed = (option: string) => {
    const { signal } = new AbortController()
    const running = { signal, timeoutMs: LOOK_MS, env, maxBytes: MAX_PRINTED_BYTES }
    return outputOf('ffmpeg', ['-hide_banner', option], running)
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
      filters ??= printed('-filters').then(filtersIn)
      try {
        const known = await filters
        return names.every((name) => known.has(name))
      } catch (error) {
        filters = undefined
        throw error
      }
    },

    async version() {
      return /^ffmpeg version (\S+)/.exec(await printed('-version'))?.[1] ?? 'unknown'
    },

    async lacking(encoders) {
      const text = await printed('-encoders')
      const known = new Set([...text.matchAll(/^ [VAS]\S{5} (\S+)/gm)].map(([, name = '']) => name))
      return encoders.filter((name) => !known.has(name))
    },
  }
}

/**
 * Looks for a program where execvp(3) does. The program is not started: `ffmpeg -version` loads a hundred libraries, 60 ms of CPU
 * time at each start of a process. Other errors show when it is called.
 */
async function isOnPath(program: string, env: Running['env']): Promise<boolean> {
  for (const path of pathsOf(program, env)) if (await isExecutable(path)) return true
  return false
}

/** Parses the names in the output of `ffmpeg -filters`: ` T.C name  V->V  description`. */
function filtersIn(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/^ \S{2,3} (\w+) +\S+->\S+/gm)].map(([, name = '']) => name))
}
