import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Asset } from '../core/asset.ts'
import { joinSignals } from '../core/joined-signal.ts'
import { knownFormat } from '../core/media.ts'
import { Problem, unavailable } from '../core/problem.ts'
import { outputOf } from './ffmpeg-process.ts'
import { undecodable } from './ffprobe.ts'
import { assetOfFile } from './file-asset.ts'
import type { Scratch } from './scratch.ts'
import { outcomeSeconds, transcodeArguments } from './transcode-arguments.ts'
import type { RenderContext, VideoContainer, VideoDraft } from './video-source.ts'

// Twice a second a block of lines of 400 bytes, for a day: only the last of them counts.
const MAX_PRINTED_BYTES = 100_000_000
const STALL_MS = 30_000

/**
 * Makes the video that a draft asks for, in one run of ffmpeg, as a file that is removed afterwards.
 *
 * @throws Problem 422 for a source that cannot be decoded or takes too long, 503 when the disk is full, 504 when nothing
 *   moves any more, `signal.reason`
 */
export async function transcode(
  draft: VideoDraft,
  container: VideoContainer,
  context: RenderContext & { scratch: Scratch; stallMs?: number },
): Promise<Asset> {
  const { limits, scratch, env, canToneMap, stallMs = STALL_MS } = context
  const format = knownFormat(container)
  const { folder, remove } = await scratch.newFolder()
  context.afterwards(remove)
  const target = join(folder, `video.${format.extension}`)
  const stalled = new AbortController()
  const { signal, leave } = joinSignals([context.signal, stalled.signal])
  const seconds = outcomeSeconds(draft)
  const reading = readProgress()
  let movedAt = Date.now()
  const watching = setInterval(async () => {
    // While the index is brought to the front it writes, and tells nothing.
    const writtenAt = await stat(target).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    )
    if (Date.now() - Math.max(movedAt, writtenAt) > stallMs) stalled.abort(noProgress(stallMs))
  }, stallMs / 10)
  try {
    await outputOf('ffmpeg', transcodeArguments(draft, { container, target, limits, canToneMap }), {
      ...{ signal, env, timeoutMs: limits.timeoutMs, maxBytes: MAX_PRINTED_BYTES },
      onOutput(text) {
        if (!reading.take(text)) return
        movedAt = Date.now()
        if (seconds !== undefined && seconds > 0)
          context.progress?.(Math.min(0.99, reading.seconds() / seconds))
      },
    })
  } catch (error) {
    context.signal.throwIfAborted()
    throw error instanceof Problem ? error : explained(error, limits.sourceMaxPixels)
  } finally {
    clearInterval(watching)
    leave()
  }
  // It ends well over a source of which nothing can be decoded.
  if (reading.frames() === 0)
    throw undecodable(new Error('no frame could be decoded'), limits.sourceMaxPixels)
  return assetOfFile(target, format)
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
function explained(error: unknown, maxPixels: number): unknown {
  const words = error instanceof Error ? error.message : ''
  if (/No space left on device|Disk quota exceeded/.test(words))
    return unavailable('there is no room to work on this video', { cause: error })
  // Somebody has killed it, for memory most likely: that may pass.
  if (/ended with SIG/.test(words)) return error
  return undecodable(error, maxPixels)
}

/** 504: the machine may have stood still, or the decoder has lost itself. */
function noProgress(stallMs: number): Problem {
  return new Problem({
    status: 504,
    code: 'no_progress',
    detail: `the transformation of this video made no progress for ${stallMs / 1000} s and was given up`,
  })
}
