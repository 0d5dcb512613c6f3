import { programEnvironment } from '../../../config/programs.ts'
import { createPrograms, type Programs } from '../../../src/engines/ffmpeg/installed.ts'

const known = new Map<string, Programs>()

/**
 * The ffmpeg programs in `PATH`. Hundreds of services of one test process share the search, which takes 0.2 s of CPU time. A
 * test that changes `PATH` gets a search of its own.
 */
export function installedPrograms(): Programs {
  const env = programEnvironment()
  const path = JSON.stringify(env)
  const programs = known.get(path) ?? createPrograms(env)
  known.set(path, programs)
  return programs
}
