import { Problem } from '../../core/problem.ts'
import { MAX_MEMORY_BYTES, type RunOptions, runProgram, type Said } from '../programs/run.ts'

/** Runs a program like {@link ran}, and returns its standard output. */
export async function outputOf(...[program, args, options]: Parameters<typeof ran>): Promise<string> {
  return (await ran(program, args, options)).output
}

/** Runs ffmpeg or ffprobe like {@link runProgram}. @throws Problem 501 when it is not installed, too */
export async function ran(
  program: 'ffmpeg' | 'ffprobe',
  args: readonly string[],
  options: RunOptions,
): Promise<Said> {
  // ffmpeg refuses a single allocation above the limit at once. The process could fill it before the next read.
  const { maxMemoryBytes = MAX_MEMORY_BYTES } = options
  const bounded = ['-max_alloc', String(maxMemoryBytes), ...args]
  return runProgram(program, bounded, options).catch((error) => {
    throw error.code === 'ENOENT' ? notInstalled([program], error) : error
  })
}

/** The command that installs ffmpeg, for the operator. */
export const INSTALL = 'sudo apt-get install --no-install-recommends ffmpeg'

/** Problem 501: the installation lacks the programs for video and audio. */
export function notInstalled(programs: readonly string[], cause?: unknown): Problem {
  return new Problem({
    status: 501,
    code: 'not_installed',
    detail: `Transformations of video, audio, and animated AVIF, HEIC or PNG need ${programs.join(' and ')}, which this server does not have. Install with: ${INSTALL}`,
    cause,
  })
}
