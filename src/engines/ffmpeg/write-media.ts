import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { anySignal } from '../../core/async/any-signal.ts'
import type { Asset } from '../../core/bytes/asset.ts'
import { outputTooLarge } from '../../core/limit-problems.ts'
import type { Format } from '../../core/media/formats.ts'
import type { EngineContext } from '../../core/plugin-api/plugin.ts'
import { Problem, unavailable } from '../../core/problem.ts'
import { ProgramError, type Running, runningOf } from '../programs/run.ts'
import { assetOfFile } from '../temp/file-asset.ts'
import type { Scratch } from '../temp/scratch.ts'
import { outputOf } from './process.ts'
import { withStallTimeout } from './watchdog.ts'

/** A run of ffmpeg that writes one file, and may write others next to it. */
export interface Writing {
  group: 'video' | 'audio'
  /** The name of the file within a folder of its own. */
  fileName: string
  /** Expected duration in seconds; undefined when unknown. */
  seconds: number | undefined
  /** Returns the arguments with which ffmpeg writes into the file `target` and prints its progress. */
  argumentsFor(target: string): readonly string[]
  /** Called four times a second while ffmpeg writes, never concurrently. An error ends the run. */
  meanwhile?(target: string): Promise<void>
  /** Converts an error of ffmpeg into the problem for a source that cannot be decoded. */
  undecodable(cause: unknown): Problem
}

/** The context of a run. */
export interface WriteContext extends EngineContext, Pick<Running, 'env'> {
  scratch: Scratch
  /** Maximum time without progress, in milliseconds; half a minute by default. */
  stallMs?: number | undefined
}

// Progress blocks of 400 bytes, twice a second, for a day. Only the last one is held.
const MAX_PRINTED_BYTES = 100_000_000
const MEANWHILE_EVERY_MS = 250

/** Writes a file with ffmpeg. The file is removed after use. @throws errors of {@link writeInto} */
export async function writeMedia(
  { format, ...writing }: Omit<Writing, 'group' | 'fileName'> & { format: Format },
  context: WriteContext,
): Promise<Asset> {
  const group = format.group === 'audio' ? 'audio' : 'video'
  const target = await writeInto({ ...writing, group, fileName: `made.${format.extension}` }, context)
  const asset = await assetOfFile(target, format)
  const { outputMaxBytes } = context.limits
  // At its size limit ffmpeg ends the file without an error.
  if (asset.size >= outputMaxBytes) throw outputTooLarge(outputMaxBytes)
  return asset
}

/**
 * Runs ffmpeg, which writes into a new folder. The folder is removed after use.
 *
 * @returns the path of the file
 * @throws Problem 422 for a source that cannot be decoded or takes too long, 503 when the disk is full, 504 without
 *   progress, `signal.reason`, the errors of `meanwhile`
 */
export async function writeInto(
  { group, fileName, seconds, argumentsFor, meanwhile, undecodable }: Writing,
  context: WriteContext,
): Promise<string> {
  const { limits, scratch, env, stallMs } = context
  const { folder, remove } = await scratch.newFolder()
  context.afterwards(remove)
  const target = join(folder, fileName)
  const givenUp = new AbortController()
  const { signal, leave } = anySignal([context.signal, givenUp.signal])
  const reading = readProgress()
  const ended = new AbortController()
  const parallelWork = repeated(async () => meanwhile?.(target), { signal: ended.signal }).catch((error) =>
    givenUp.abort(error),
  )
  try {
    // While ffmpeg moves the index to the front, it writes but reports no progress.
    const movedAt = () => writtenAt(target)
    await withStallTimeout({ group, stallMs, signal, movedAt }, (watched, moved) =>
      outputOf('ffmpeg', argumentsFor(target), {
        ...runningOf(limits, { signal: watched, env, group, spent: context.spent }),
        maxBytes: MAX_PRINTED_BYTES,
        onOutput(chunk) {
          if (!reading.take(chunk.toString())) return
          moved()
          if (seconds !== undefined && seconds > 0)
            context.progress?.(Math.min(0.99, reading.seconds() / seconds))
        },
      }),
    )
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Problem) throw error
    throw explained(error, { group, undecodable })
  } finally {
    ended.abort()
    await parallelWork
    leave()
  }
  givenUp.signal.throwIfAborted()
  // ffmpeg succeeds on a source of which nothing can be decoded.
  const isEmpty = group === 'audio' ? reading.seconds() === 0 : reading.frames() === 0
  if (isEmpty) throw undecodable(new Error('no part of the file could be decoded'))
  return target
}

/** The time of the last write in milliseconds since 1970; 0 when the file does not exist. */
function writtenAt(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )
}

/** Runs the work four times a second, one run after the other, until the signal aborts. */
async function repeated(work: () => Promise<void>, { signal }: { signal: AbortSignal }): Promise<void> {
  while (await pause(MEANWHILE_EVERY_MS, true, { signal }).catch(() => false)) await work()
}

/** Parses the output of `-progress`: lines of `name=value` in blocks. */
export function readProgress() {
  const values = new Map<string, string>()
  let rest = ''
  return {
    /** @returns whether there was progress since the last call */
    take(text: string): boolean {
      const lines = `${rest}${text}`.split('\n')
      rest = lines.pop() ?? ''
      let hasMoved = false
      for (const line of lines) {
        const at = line.indexOf('=')
        const [name, value] = [line.slice(0, at).trim(), line.slice(at + 1).trim()]
        const counts = ['frame', 'out_time_us', 'total_size'].includes(name)
        if (counts && values.get(name) !== value) hasMoved = true
        values.set(name, value)
      }
      return hasMoved
    },
    /** The duration of the output so far. */
    seconds: () => Math.max(0, Number(values.get('out_time_us')) / 1_000_000 || 0),
    frames: () => Number(values.get('frame') ?? 0),
  }
}

/** An error of ffmpeg is the file's fault, unless its last messages show another cause. */
function explained(error: unknown, { group, undecodable }: Pick<Writing, 'undecodable' | 'group'>): unknown {
  const words = error instanceof Error ? error.message : ''
  if (/No space left on device|Disk quota exceeded/.test(words))
    return unavailable(`The disk has no space to transform this ${group}.`, { cause: error })
  // The process was killed, most likely for lack of memory: a retry may succeed.
  if (error instanceof ProgramError && error.signal !== null) return error
  return undecodable(error)
}
