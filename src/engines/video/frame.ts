import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import ffmpeg, { type FfmpegCommand } from 'fluent-ffmpeg'
import { type Asset, assetFromBytes } from '../../core/bytes/asset.ts'
import type { TransformLimits } from '../../core/plugin-api/limits.ts'
import { badParameter, Problem } from '../../core/problem.ts'
import { lastShownUntil, undecodable } from '../ffmpeg/ffprobe.ts'
import { guardedInput, inputPath } from '../ffmpeg/input.ts'
import { outputOf } from '../ffmpeg/process.ts'
import type { RenderContext, VideoInput, VideoSource } from '../ffmpeg/video-source.ts'
import { type Running, runningOf } from '../programs/run.ts'
import { decoderArguments } from './alpha.ts'
import { toneMapping } from './tone-mapping.ts'

// All frames from the previous key frame on must be decoded as well. Each thread holds some frames.
const DECODING_THREADS_AT_MOST = 4
// It prints nothing unless there is an error.
const MAX_PRINTED_BYTES = 100_000
// The last frame may be shown for a long time: the last slide of a recorded talk, without duplicate frames.
const LAST_FRAME_WITHIN_SECONDS = 10
// From this height on, a video without a colour matrix is assumed to be BT.709, as in browsers.
const HD_HEIGHT = 720

/** Renders the frame at this time in the video's size, upright: as a JPEG, or as a PNG if it has transparency. */
export async function frameOf(
  input: VideoInput,
  seconds: number,
  { signal, limits, env, canToneMap, spent }: RenderContext,
): Promise<Asset> {
  const running = runningOf(limits, { signal, env, spent })
  const hasAlpha = input.source.alphaDecoder !== undefined
  const target = join(input.folder, hasAlpha ? 'frame.png' : 'frame.jpg')
  const how = { target, limits, canToneMap }
  const broken = (cause: unknown) => {
    signal.throwIfAborted()
    return cause instanceof Problem ? cause : undecodable(cause, limits.sourceMaxPixels)
  }
  const attempt = (command: FfmpegCommand) =>
    run(command, running).catch((error) => {
      throw broken(error)
    })
  await attempt(frameCommand(input, { seconds, ...how }).frames(1))
  if (!(await exists(target))) {
    if (input.source.isCover) throw broken(new Error('the cover has no frame'))
    if (input.source.durationSeconds === undefined) throw pastTheEnd(seconds)
    const from = Math.max(0, seconds - LAST_FRAME_WITHIN_SECONDS)
    const { demuxer, path, source } = input
    const probing = { demuxer, maxPixels: limits.sourceMaxPixels, stream: source.stream, from }
    const until = await lastShownUntil(path, { ...probing, ...running })
    // The last frame begins before this time. ffmpeg writes all frames from a little earlier, each over the one
    // before.
    if (until > seconds) await attempt(frameCommand(input, { seconds: from, ...how }))
    if (!(await exists(target)))
      throw broken(new Error(`no frame at ${seconds} s: the last one ends at ${until} s`))
  }
  const bytes = await readFile(target, { signal })
  return assetFromBytes(bytes, {
    mediaType: hasAlpha ? 'image/png' : 'image/jpeg',
    lastModified: new Date(),
  })
}

// Because the delivered image is encoded once more.
const BEST_JPEG = ['-c:v', 'mjpeg', '-q:v', '1', '-qmin', '1']

interface FrameOptions {
  seconds: number
  target: string
  limits: TransformLimits
  canToneMap: boolean
}

function frameCommand(
  { path, demuxer, source }: VideoInput,
  { seconds, target, limits, canToneMap }: FrameOptions,
): FfmpegCommand {
  const { sourceMaxPixels, timeoutMs, cores } = limits
  const threads = Math.min(DECODING_THREADS_AT_MOST, cores)
  const quiet = ['-nostdin', '-hide_banner', '-loglevel', 'error']
  // In seconds of CPU time: ffmpeg ends itself when its parent no longer can.
  const bounded = ['-timelimit', String(Math.ceil((timeoutMs / 1000) * threads)), '-threads', String(threads)]
  // Before a cover, a seek fails.
  const seek = source.isCover ? [] : ['-ss', String(seconds)]
  return ffmpeg()
    .input(inputPath(path))
    .inputOptions([
      ...quiet,
      ...bounded,
      ...guardedInput(demuxer, sourceMaxPixels),
      ...decoderArguments(source),
      ...seek,
    ])
    .outputOptions(['-map', `0:${source.stream}`, '-an', '-sn', '-dn', '-filter_threads', '1'])
    .videoFilters(filters(source, canToneMap))
    .outputOptions(source.alphaDecoder === undefined ? BEST_JPEG : ['-c:v', 'png'])
    .outputOptions(['-f', 'image2', '-update', '1'])
    .output(target)
}

/**
 * Square pixels, and the colours of a JPEG: BT.601 in full range, 0 to 255. ffmpeg has applied the rotation already.
 */
function filters(source: VideoSource, canToneMap: boolean): string[] {
  const { colorMatrix, width, height } = source
  const mapped = canToneMap ? toneMapping(source) : []
  const isHd = Math.min(width, height) >= HD_HEIGHT
  const isBt709 = mapped.length > 0 || (colorMatrix === undefined && isHd)
  // As RGB, the colours have no matrix.
  const [outMatrix, format] =
    source.alphaDecoder === undefined ? [':out_color_matrix=bt601:out_range=full', 'yuvj444p'] : ['', 'rgba']
  const matrix = isBt709 ? ':in_color_matrix=bt709' : ''
  return [
    // Every second line: those of one moment. All lines would be visible as combs.
    ...(source.isInterlaced ? ['field=type=top'] : []),
    ...mapped,
    `scale=w=${width}:h=${height}${matrix}${outMatrix}`,
    'setsar=1',
    `format=${format}`,
  ]
}

/**
 * Runs a command to its end. fluent-ffmpeg only assembles the arguments. If it ran them, it would first query all
 * formats of ffmpeg, and lose an abort that comes before the process starts.
 *
 * @throws Problem 422 when it takes too long, 501, Error with its last messages when it fails
 */
async function run(command: FfmpegCommand, running: Running): Promise<void> {
  await outputOf('ffmpeg', command._getArguments(), { ...running, maxBytes: MAX_PRINTED_BYTES })
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** Problem 400, as for any time after the end. The video does not state its duration. */
function pastTheEnd(seconds: number): Problem {
  const expected = 'a time within this video (it does not state its duration)'
  return badParameter({ param: 'duration', expected, received: `${seconds} s` })
}
