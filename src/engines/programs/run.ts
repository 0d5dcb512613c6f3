import { spawn } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import type { TransformLimits } from '../../core/plugin-api/limits.ts'
import { type SourceKind, takesTooLong, takesTooMuchMemory } from '../../core/transform-problems.ts'
import { measureCpu } from './cpu.ts'
import { withHiddenFiles } from './hidden-files.ts'
import { watchMemory } from './memory.ts'

/** Conditions that end a process early. */
export interface Watch {
  signal: AbortSignal
  timeoutMs: number
  /** The kind of file, for error messages: a video by default. */
  group?: SourceKind
}

/** Options of a run. */
export interface Running extends Watch {
  /** The complete environment: a program that reads untrusted files receives no secrets of the service. */
  env: Readonly<Record<string, string>>
  /** Resident memory at which it is killed, in bytes; 1 GiB by default. */
  maxMemoryBytes?: number | undefined
  /** Called with the CPU time in milliseconds, whatever the result. */
  spent?: ((cpuMs: number) => void) | undefined
}

/** Applies the limits of a transformation to a run. */
export function runningOf(
  { timeoutMs, mediaMaxMemoryBytes }: Pick<TransformLimits, 'timeoutMs' | 'mediaMaxMemoryBytes'>,
  running: Omit<Running, 'timeoutMs' | 'maxMemoryBytes'>,
): Running {
  return { ...running, timeoutMs, maxMemoryBytes: mediaMaxMemoryBytes }
}

/** A running process. */
export interface Watched<T> {
  /** Resolves when the process has ended. */
  ended: Promise<T>
  kill(signal: 'SIGTERM' | 'SIGKILL'): void
}

// ffmpeg closes its files within milliseconds of SIGTERM, unless a decoder hangs.
const GRACE_MS = 1_000
// Enough of a program's messages to see why it failed.
const LAST_WORDS = 2_000

// From a file of 1096 bytes, libavformat builds tables of 3.7 GB. Frames of 49 megapixels take 5.9 GB to transcode.
export const MAX_MEMORY_BYTES = 1024 ** 3

// Programs get the lowest priority: the service's own threads come first.
const LOWEST_PRIORITY = constants.priority.PRIORITY_LOW

/**
 * Waits for a process. At its time limit or an abort it gets SIGTERM, then SIGKILL. The process has ended in any case
 * when this settles.
 *
 * @throws Problem 422 when it takes too long, `signal.reason`
 */
export async function watched<T>(
  { ended, kill }: Watched<T>,
  { signal, timeoutMs, group = 'video' }: Watch,
): Promise<T> {
  let isLate = false
  let killTimer: NodeJS.Timeout | undefined
  const stop = () => {
    kill('SIGTERM')
    killTimer ??= setTimeout(() => kill('SIGKILL'), GRACE_MS)
  }
  const timer = setTimeout(() => {
    isLate = true
    stop()
  }, timeoutMs)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    const outcome = await ended
    signal.throwIfAborted()
    return outcome
  } catch (cause) {
    signal.throwIfAborted()
    throw isLate ? takesTooLong(group, cause) : cause
  } finally {
    clearTimeout(timer)
    clearTimeout(killTimer)
    signal.removeEventListener('abort', stop)
  }
}

/** The output of a program. */
export interface Said {
  /** Its standard output, unless `onOutput` has taken it. */
  output: string
  /** The end of its standard error: 2000 characters. */
  words: string
}

/** Options of a run that is waited for. */
export interface RunOptions extends Running {
  /** Standard output above this limit kills the program. */
  maxBytes: number
  /** Takes the standard output; by default it is collected. */
  onOutput?: (chunk: Buffer) => void
  /** The descriptor of an open file; empty by default. */
  stdin?: number
}

/** The failure of a program, with its last messages. */
export class ProgramError extends Error {
  /** Null when a signal has ended it. */
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null

  constructor(
    program: string,
    { exitCode, signal, words }: Pick<ProgramError, 'exitCode' | 'signal'> & { words: string },
  ) {
    super(`${program} ended with ${exitCode ?? signal}: ${words}`)
    this.exitCode = exitCode
    this.signal = signal
  }
}

/**
 * Runs a program with these arguments, without a shell, to its end.
 *
 * @throws Problem 422 when it takes too long or too much memory, ProgramError when it fails, Error with the code `ENOENT` when it
 *   does not exist, `signal.reason`
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  { maxBytes, env, onOutput, stdin, maxMemoryBytes = MAX_MEMORY_BYTES, spent, ...watch }: RunOptions,
): Promise<Said> {
  const stdio = await withHiddenFiles([stdin ?? 'ignore', 'pipe', 'pipe'])
  watch.signal.throwIfAborted()
  const child = spawn(program, args, { stdio, env })
  if (child.pid !== undefined) lowerPriority(child.pid)
  const measured = child.pid === undefined ? () => 0 : measureCpu(child.pid)
  const chunks: Buffer[] = []
  let length = 0
  child.stdout.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length > maxBytes) child.kill('SIGKILL')
    else if (onOutput) onOutput(chunk)
    else chunks.push(chunk)
  })
  let lastWords = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    lastWords = `${lastWords}${text}`.slice(-LAST_WORDS)
  })
  const ended = new Promise<void>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (exitCode, signal) => {
      if (exitCode === 0) resolve()
      else reject(new ProgramError(program, { exitCode, signal, words: lastWords }))
    })
  })
  let isTooLarge = false
  const tooMuch = () => {
    isTooLarge = true
    child.kill('SIGKILL')
  }
  const unwatch =
    child.pid === undefined ? () => {} : watchMemory(child.pid, { maxBytes: maxMemoryBytes, tooMuch })
  try {
    await watched({ ended, kill: (signal) => child.kill(signal) }, watch)
  } catch (cause) {
    watch.signal.throwIfAborted()
    const isRefused = /Cannot allocate memory/.test(lastWords)
    throw isTooLarge || isRefused ? takesTooMuchMemory(watch.group ?? 'video', cause) : cause
  } finally {
    unwatch()
    const cpuMs = measured()
    spent?.(cpuMs)
  }
  return { output: Buffer.concat(chunks).toString(), words: lastWords }
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, LOWEST_PRIORITY)
  } catch {
    // The process has ended already.
  }
}
