import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import ffmpeg, { type FfmpegCommand } from 'fluent-ffmpeg'
import { type Asset, assetFromBytes } from '../../core/bytes/asset.ts'
import type { Log } from '../../core/log.ts'
import { formatOfMediaType } from '../../core/media/formats.ts'
import type { MediaInspector } from '../../core/plugin-api/inspectors.ts'
import type { TransformLimits } from '../../core/plugin-api/limits.ts'
import type { Engine } from '../../core/plugin-api/plugin.ts'
import { badParameter, Problem } from '../../core/problem.ts'
import { lastShownUntil, probe, probeVideo, undecodable } from '../ffmpeg/ffprobe.ts'
import { guardedInput, inputPath } from '../ffmpeg/input.ts'
import { createPrograms, type Programs } from '../ffmpeg/installed.ts'
import { mediaFacts } from '../ffmpeg/media-facts.ts'
import { checkMediaSize, type MediaFile, openMedia, unlessGone } from '../ffmpeg/media-file.ts'
import { INSTALL, notInstalled, outputOf } from '../ffmpeg/process.ts'
import type { RenderContext, VideoInput, VideoSource } from '../ffmpeg/video-source.ts'
import { type Running, runningOf } from '../programs/run.ts'
import { createScratch } from '../temp/scratch.ts'
import { streamed } from './hls.ts'
import { storyboard } from './storyboard.ts'
import { needsToneMapping, TONE_MAPPING_FILTERS, toneMapping } from './tone-mapping.ts'
import { transcode } from './transcode.ts'

/** The video engine, which runs ffmpeg as child processes. */
export interface FfmpegEngine extends Engine<'ffmpeg'>, MediaInspector {
  /** Removes the files of earlier processes, and logs a warning when ffmpeg is missing. */
  start(log: Log): Promise<void>
  /** Whether ffmpeg or ffprobe is not installed. */
  isMissing(): Promise<boolean>
  /** @throws Problem 501 when one of them is missing */
  ensureInstalled(): Promise<void>
}

// To decode a frame takes 110 to 150 MB, for 4K 300 to 450 MB. With a value between these it counts as heavy work.
const FRAME_BYTES = 256_000_000
// All frames from the previous key frame on must be decoded as well. Each thread holds some frames.
const DECODING_THREADS_AT_MOST = 4
// It prints nothing unless there is an error.
const MAX_PRINTED_BYTES = 100_000
// The last frame may be shown for a long time: the last slide of a recorded talk, without duplicate frames.
const LAST_FRAME_WITHIN_SECONDS = 10
// From this height on, a video without a colour matrix is assumed to be BT.709, as in browsers.
const HD_HEIGHT = 720

// Time limit for an image of a video, in each of its three parts: copy, render, store.
const PICTURE_MS = 300_000

export interface FfmpegOptions {
  /** Folder of temporary files. It is created on demand. */
  folder: string
  /** The complete environment of ffmpeg and ffprobe. */
  env: Running['env']
  /** Time limit of a media job, in milliseconds. */
  mediaTimeoutMs?: number
  /** The installed programs, when they are known. By default, the engine looks for them in `env`. */
  programs?: Programs | undefined
}

/** Creates the engine. It starts no process yet. */
export function createFfmpeg({
  folder,
  env,
  mediaTimeoutMs = 0,
  programs = createPrograms(env),
}: FfmpegOptions): FfmpegEngine {
  const scratch = createScratch(folder)

  async function ensureInstalled(): Promise<void> {
    const missing = await programs.missing()
    if (missing.length > 0) throw notInstalled(missing)
  }

  return {
    name: 'ffmpeg',
    media: ['video'],

    async start(log) {
      await scratch.removeStale({ afterMs: 4 * Math.max(PICTURE_MS * 3, mediaTimeoutMs) })
      const missing = await programs.missing()
      if (missing.length > 0)
        log.warn(
          { missing },
          `video and audio files are stored and delivered, but not transformed. Install what is missing: ${INSTALL}`,
        )
    },

    isMissing: async () => (await programs.missing()).length > 0,

    ensureInstalled,

    async forecast(source, _steps, { limits }) {
      await ensureInstalled()
      checkMediaSize(source, limits)
      return { bytes: FRAME_BYTES, mayHang: false, ownProcess: true, source }
    },

    async open(asset, _opening, { signal, limits, spent }) {
      const running = runningOf(limits, { signal, env, spent })
      // The picture of a sound is its cover, a video of one frame.
      const isCover = formatOfMediaType(asset.mediaType).group === 'audio'
      const look = (file: MediaFile) =>
        probeVideo(file, { maxPixels: limits.sourceMaxPixels, isCover, ...running })
      const { file, found: source } = await openMedia(asset, { scratch, signal, limits }, look)
      return { draft: { input: { ...file, source } }, source }
    },

    async facts(asset, { signal, limits, spent }) {
      const running = runningOf(limits, { signal, env, spent })
      const look = (file: MediaFile) => probe(file, { maxPixels: limits.sourceMaxPixels, ...running })
      const { file, found } = await openMedia(asset, { scratch, signal, limits }, look).catch((cause) => {
        signal.throwIfAborted()
        throw cause instanceof Problem ? cause : undecodable(cause, limits.sourceMaxPixels)
      })
      await file.remove()
      return mediaFacts(found, formatOfMediaType(asset.mediaType))
    },

    async render(draft, context) {
      const { frameAtSeconds, container, input } = draft
      const canToneMap = needsToneMapping(input.source) && (await programs.have(TONE_MAPPING_FILTERS))
      const all = { ...context, env, canToneMap }
      if (frameAtSeconds !== undefined) return unlessGone(input.path, frameOf(input, frameAtSeconds, all))
      if (draft.ladder !== undefined) return unlessGone(input.path, streamed(draft, { ...all, scratch }))
      if (draft.isStoryboard) return unlessGone(input.path, storyboard(draft, { ...all, scratch }))
      if (container === undefined) throw new Error('no plugin requested an output of the video')
      return unlessGone(input.path, transcode(draft, container, { ...all, scratch }))
    },

    close: ({ draft }) => draft.input.remove(),

    settle: () => Promise.reject(new Error('a video has no passes')),

    frames: () => Promise.reject(new Error('a video has too many frames to have them all')),

    async verify() {
      // Errors in a video become problems when the file is opened or rendered.
    },
  }
}

/** Renders the frame at this time as a JPEG of the video's size, upright. */
async function frameOf(
  input: VideoInput,
  seconds: number,
  { signal, limits, env, canToneMap, spent }: RenderContext,
): Promise<Asset> {
  const running = runningOf(limits, { signal, env, spent })
  const target = join(input.folder, 'frame.jpg')
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
  return assetFromBytes(bytes, { mediaType: 'image/jpeg', lastModified: new Date() })
}

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
  return (
    ffmpeg()
      .input(inputPath(path))
      .inputOptions([...quiet, ...bounded, ...guardedInput(demuxer, sourceMaxPixels), ...seek])
      .outputOptions(['-map', `0:${source.stream}`, '-an', '-sn', '-dn', '-filter_threads', '1'])
      .videoFilters(filters(source, canToneMap))
      // The best quality, because the delivered image is encoded once more.
      .outputOptions(['-c:v', 'mjpeg', '-q:v', '1', '-qmin', '1'])
      .outputOptions(['-f', 'image2', '-update', '1'])
      .output(target)
  )
}

/**
 * Square pixels, and the colours of a JPEG: BT.601 in full range, 0 to 255. ffmpeg has applied the rotation already.
 */
function filters(source: VideoSource, canToneMap: boolean): string[] {
  const { colorMatrix, width, height } = source
  const mapped = canToneMap ? toneMapping(source) : []
  const isHd = Math.min(width, height) >= HD_HEIGHT
  const isBt709 = mapped.length > 0 || (colorMatrix === undefined && isHd)
  const matrix = isBt709 ? ':in_color_matrix=bt709' : ''
  return [
    // Every second line: those of one moment. All lines would be visible as combs.
    ...(source.isInterlaced ? ['field=type=top'] : []),
    ...mapped,
    `scale=w=${width}:h=${height}${matrix}:out_color_matrix=bt601:out_range=full`,
    'setsar=1',
    'format=yuvj444p',
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
