import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { anySignal } from '../../core/async/any-signal.ts'
import type { Asset } from '../../core/bytes/asset.ts'
import { outputTooLarge } from '../../core/limit-problems.ts'
import type { Format } from '../../core/media/formats.ts'
import type { EngineContext } from '../../core/plugin-api/plugin.ts'
import { Problem, unavailable } from '../../core/problem.ts'
import { assetOfFile } from '../temp/file-asset.ts'
import type { Scratch } from '../temp/scratch.ts'
import { outputOf, type Running, runningOf } from './process.ts'
import { withStallTimeout } from './watchdog.ts'

/** A file that ffmpeg is to write in one run, perhaps with others beside it. */
export interface Writing {
  group: 'video' | 'audio'
  /** Within a folder of its own. */
  fileName: string
  /** How long it will be, in seconds; undefined where nobody knows. */
  seconds: number | undefined
  /** What ffmpeg is told, to write into the file `target` and to print its progress. */
  argumentsFor(target: string): readonly string[]
  /** Called four times a second while ffmpeg writes, never twice at a time; what it throws ends the run. */
  meanwhile?(target: string): Promise<void>
  /** What is wrong with a source that cannot be decoded. */
  undecodable(cause: unknown): Problem
}

/** What it takes to write one. */
export interface WriteContext extends EngineContext, Pick<Running, 'env'> {
  scratch: Scratch
  /** How long it may stand still; half a minute when not given. */
  stallMs?: number | undefined
}

// Twice a second a block of lines of 400 bytes, for a day: only the last of them counts.
const MAX_PRINTED_BYTES = 100_000_000
const MEANWHILE_EVERY_MS = 250

/** Has ffmpeg write a file of a format, which is removed afterwards. @throws as {@link writeInto} does */
export async function writeMedia(
  { format, ...writing }: Omit<Writing, 'group' | 'fileName'> & { format: Format },
  context: WriteContext,
): Promise<Asset> {
  const group = format.group === 'audio' ? 'audio' : 'video'
  const target = await writeInto({ ...writing, group, fileName: `made.${format.extension}` }, context)
  const asset = await assetOfFile(target, format)
  const { outputMaxBytes } = context.limits
  // At its limit ffmpeg ends the file, and says nothing.
  if (asset.size >= outputMaxBytes) throw outputTooLarge(outputMaxBytes)
  return asset
}

/**
 * Has ffmpeg write into a new folder, which is removed afterwards.
 *
 * @returns the path of the file
 * @throws Problem 422 for a source that cannot be decoded or takes too long, 503 when the disk is full, 504 when nothing
 *   moves any more, `signal.reason`, what `meanwhile` has thrown
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
  const beside = repeated(async () => meanwhile?.(target), { signal: ended.signal }).catch((error) =>
    givenUp.abort(error),
  )
  try {
    // While the index is brought to the front it writes, and tells nothing.
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
    await beside
    leave()
  }
  givenUp.signal.throwIfAborted()
  // It ends well over a source of which nothing can be decoded.
  const isEmpty = group === 'audio' ? reading.seconds() === 0 : reading.frames() === 0
  if (isEmpty) throw undecodable(new Error('no part of the file could be decoded'))
  return target
}

/** In milliseconds since 1970; 0 where there is none. */
function writtenAt(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )
}

/** Does it four times a second, one after the other, until it is told not to any more. */
async function repeated(work: () => Promise<void>, { signal }: { signal: AbortSignal }): Promise<void> {
  while (await pause(MEANWHILE_EVERY_MS, true, { signal }).catch(() => false)) await work()
}

/** Reads what `-progress` prints: lines of `name=value`, a block at a time. */
export function readProgress() {
  const values = new Map<string, string>()
  let rest = ''
  return {
    /** @returns whether anything has been done since the text before */
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
    /** Of the outcome, so far. */
    seconds: () => Math.max(0, Number(values.get('out_time_us')) / 1_000_000 || 0),
    frames: () => Number(values.get('frame') ?? 0),
  }
}

/** What ended by itself is the file's fault, unless its last words say otherwise. */
function explained(error: unknown, { group, undecodable }: Pick<Writing, 'undecodable' | 'group'>): unknown {
  const words = error instanceof Error ? error.message : ''
  if (/No space left on device|Disk quota exceeded/.test(words))
    return unavailable(`The disk has no space to transform this ${group}.`, { cause: error })
  // Somebody has killed it, for memory most likely: that may pass.
  if (/ended with SIG/.test(words)) return error
  return undecodable(error)
}
