import { spawn } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import type { TransformLimits } from '../../core/plugin-api/limits.ts'
import { Problem } from '../../core/problem.ts'
import { takesTooLong, takesTooMuchMemory } from '../../core/transform-problems.ts'
import { withHiddenFiles } from './hidden-files.ts'
import { measureCpu } from './process-cpu.ts'
import { watchMemory } from './process-memory.ts'

/** What ends a process before its own end. */
export interface Watch {
  signal: AbortSignal
  timeoutMs: number
  /** What it works on, for messages: a video unless told otherwise. */
  group?: 'video' | 'audio'
}

/** How a program runs. */
export interface Running extends Watch {
  /** All of its environment: what reads strangers' files gets none of the service's secrets. */
  env: Readonly<Record<string, string>>
  /** Resident memory at which it is killed, in bytes; 1 GiB when not given. */
  maxMemoryBytes?: number | undefined
  /** Called with the CPU milliseconds that it has taken, however it has ended. */
  spent?: ((cpuMs: number) => void) | undefined
}

/** A run within the limits of a transformation. */
export function runningOf(
  { timeoutMs, mediaMaxMemoryBytes }: Pick<TransformLimits, 'timeoutMs' | 'mediaMaxMemoryBytes'>,
  running: Omit<Running, 'timeoutMs' | 'maxMemoryBytes'>,
): Running {
  return { ...running, timeoutMs, maxMemoryBytes: mediaMaxMemoryBytes }
}

/** A running process. */
export interface Watched<T> {
  /** Resolves when the process is gone. */
  ended: Promise<T>
  kill(signal: 'SIGTERM' | 'SIGKILL'): void
}

// ffmpeg closes its files within milliseconds of the polite signal, unless a decoder has lost itself.
const GRACE_MS = 1_000
// Enough of what a program says to see why it has failed.
const LAST_WORDS = 2_000

// Of 1096 bytes, libavformat makes tables of 3.7 GB; frames of 49 megapixels take 5.9 GB to transcode.
const MAX_MEMORY_BYTES = 1024 ** 3

// Programs are started with what is left of the processor: the service's own threads come first.
const LOWEST_PRIORITY = constants.priority.PRIORITY_LOW

/**
 * Waits for a process, and ends it when its time is over or nobody waits any more: politely, then not. It is gone in any
 * case when this answers.
 *
 * @throws Problem 422 for one that takes too long, `signal.reason`
 */
export async function watched<T>(
  { ended, kill }: Watched<T>,
  { signal, timeoutMs, group = 'video' }: Watch,
): Promise<T> {
  let isLate = false
  let hard: NodeJS.Timeout | undefined
  const stop = () => {
    kill('SIGTERM')
    hard ??= setTimeout(() => kill('SIGKILL'), GRACE_MS)
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
    clearTimeout(hard)
    signal.removeEventListener('abort', stop)
  }
}

/** What a program has said. */
export interface Said {
  /** All that it has printed, unless somebody else has taken that. */
  output: string
  /** The last of what it says of itself: 2000 characters. */
  words: string
}

/** Runs a program as {@link ran} does, and answers with what it has printed. */
export async function outputOf(...[program, args, options]: Parameters<typeof ran>): Promise<string> {
  return (await ran(program, args, options)).output
}

/**
 * Runs a program with these arguments, no shell between, to its end.
 *
 * @param options.onOutput takes what it prints
 * @throws Problem 422 for one that takes too long or too much memory, 501 where it is not installed, Error with its last
 *   words when it fails
 */
export async function ran(
  program: 'ffmpeg' | 'ffprobe',
  args: readonly string[],
  {
    maxBytes,
    env,
    onOutput,
    maxMemoryBytes = MAX_MEMORY_BYTES,
    spent,
    ...watch
  }: Running & { maxBytes: number; onOutput?: (chunk: Buffer) => void },
): Promise<Said> {
  // One allocation past the limit is refused at once: it could be filled before the next look.
  const bounded = ['-max_alloc', String(maxMemoryBytes), ...args]
  const stdio = await withHiddenFiles(['ignore', 'pipe', 'pipe'])
  watch.signal.throwIfAborted()
  const child = spawn(program, bounded, { stdio, env })
  if (child.pid !== undefined) lower(child.pid)
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
    child.on('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'ENOENT' ? notInstalled([program], error) : error),
    )
    child.on('close', (code, signal) => {
      if (code === 0) resolve()
      else reject(new Error(`${program} ended with ${code ?? signal}: ${lastWords}`))
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

function lower(pid: number): void {
  try {
    setPriority(pid, LOWEST_PRIORITY)
  } catch {
    // It has ended already.
  }
}

/** How to come by ffmpeg, in words for an operator. */
export const INSTALL = 'sudo apt-get install --no-install-recommends ffmpeg'

/** 501: the installation lacks what videos and sound need. */
export function notInstalled(programs: readonly string[], cause?: unknown): Problem {
  return new Problem({
    status: 501,
    code: 'not_installed',
    detail: `Video and audio transformations need ${programs.join(' and ')}, which this server does not have. Install with: ${INSTALL}`,
    cause,
  })
}
