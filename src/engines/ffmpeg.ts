import { access, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import ffmpeg, { type FfmpegCommand } from 'fluent-ffmpeg'
import { type Asset, assetFromBytes } from '../core/asset.ts'
import type { Log } from '../core/log.ts'
import { formatOfMediaType } from '../core/media.ts'
import type { Engine, EngineContext, TransformLimits } from '../core/plugin.ts'
import { badParameter, fileNotFound, notTransformable, Problem } from '../core/problem.ts'
import { INSTALL, notInstalled, outputOf, type Watch } from './ffmpeg-process.ts'
import { lastShownUntil, probe, tooManyPixels, undecodable } from './ffprobe.ts'
import { createScratch } from './scratch.ts'
import { transcode } from './transcode.ts'
import { demuxerOf, guardedInput, inputPath, type VideoInput } from './video-source.ts'

/** Videos through ffmpeg, which runs as a process of its own. */
export interface FfmpegEngine extends Engine<'ffmpeg'> {
  /** Removes what an earlier process has left, and says once when ffmpeg is missing. */
  start(log: Log): Promise<void>
  /** Whether ffmpeg or ffprobe is not installed. */
  isMissing(): Promise<boolean>
  /** @throws Problem 501 when it is */
  ensureInstalled(): Promise<void>
}

// A frame of 4K decodes in 250 MB: more than the work on nearly any picture, so it goes into the line of heavy work.
const FRAME_BYTES = 256_000_000
// It prints nothing where all is well.
const MAX_PRINTED_BYTES = 100_000
const VERSION_WATCH_MS = 10_000
const LOOK_AGAIN_MS = 10_000
// The last frame may be shown for long: that of a talk's last slide, recorded without doubles.
const LAST_FRAME_WITHIN_SECONDS = 10
// Colours of what does not say how they are stored: BT.709 from this height on, as browsers have it.
const HD_HEIGHT = 720

// For a picture of a video, in each of its three parts: copying, rendering, storing.
const PICTURE_MS = 300_000

/**
 * @param folder for temporary files; made when it is needed
 * @param mediaTimeoutMs what making a video may take
 */
export function createFfmpeg({
  folder,
  mediaTimeoutMs = 0,
}: {
  folder: string
  mediaTimeoutMs?: number
}): FfmpegEngine {
  const scratch = createScratch(folder, { staleAfterMs: 4 * Math.max(PICTURE_MS * 3, mediaTimeoutMs) })
  const programs = createPrograms()

  async function ensureInstalled(): Promise<void> {
    const missing = await programs.missing()
    if (missing.length > 0) throw notInstalled(missing)
  }

  return {
    name: 'ffmpeg',
    media: ['video'],

    async start(log) {
      await scratch.removeStale()
      const missing = await programs.missing()
      if (missing.length > 0)
        log.warn({ missing }, `videos are stored and delivered, but not transformed: ${INSTALL}`)
    },

    isMissing: async () => (await programs.missing()).length > 0,

    ensureInstalled,

    async forecast(source, _steps, { limits }) {
      await ensureInstalled()
      checkSize(source, limits)
      return { bytes: FRAME_BYTES, mayHang: false, ownProcess: true, source }
    },

    async open(asset, _opening, { signal, limits }) {
      checkSize(asset, limits)
      const demuxer = demuxerOf(formatOfMediaType(asset.mediaType))
      if (demuxer === undefined) throw new Error(`no demuxer for ${asset.mediaType}`)
      const file = await scratch.take(asset, signal)
      try {
        const watch = { signal, timeoutMs: limits.timeoutMs }
        const reading = probe(file.path, { demuxer, maxPixels: limits.sourceMaxPixels, ...watch })
        const source = await unlessGone(file.path, reading)
        if (source.width * source.height > limits.sourceMaxPixels) throw tooManyPixels(limits.sourceMaxPixels)
        return { draft: { input: { ...file, demuxer, source } }, source }
      } catch (error) {
        await file.remove()
        throw error
      }
    },

    async render(draft, context) {
      const { frameAtSeconds, container, input } = draft
      if (frameAtSeconds !== undefined) return unlessGone(input.path, frameOf(input, frameAtSeconds, context))
      if (container === undefined) throw new Error('no plugin has asked for anything of the video')
      return unlessGone(input.path, transcode(draft, container, { ...context, scratch }))
    },

    close: ({ draft }) => draft.input.remove(),

    settle: () => Promise.reject(new Error('a video has no passes')),

    frames: () => Promise.reject(new Error('a video has too many frames to have them all')),

    async verify() {
      // Whatever is wrong with a video is a problem by the time it is opened and rendered.
    },
  }
}

/** The frame that is shown at a moment, as a JPEG of the video's size, upright. */
async function frameOf(
  input: VideoInput,
  seconds: number,
  { signal, limits }: EngineContext,
): Promise<Asset> {
  const watch = { signal, timeoutMs: limits.timeoutMs }
  const target = join(input.folder, 'frame.jpg')
  const broken = (cause: unknown) => {
    signal.throwIfAborted()
    return cause instanceof Problem ? cause : undecodable(cause, limits.sourceMaxPixels)
  }
  const attempt = (command: FfmpegCommand) =>
    run(command, watch).catch((error) => {
      throw broken(error)
    })
  await attempt(frameCommand(input, { seconds, target, limits }).frames(1))
  if (!(await exists(target))) {
    if (input.source.durationSeconds === undefined) throw pastTheEnd(seconds)
    const from = Math.max(0, seconds - LAST_FRAME_WITHIN_SECONDS)
    const { demuxer, path, source } = input
    const asked = { demuxer, maxPixels: limits.sourceMaxPixels, stream: source.stream, from }
    const until = await lastShownUntil(path, { ...asked, ...watch })
    // The last frame begins before this moment: of all from a little earlier, each is written over the one before.
    if (until > seconds) await attempt(frameCommand(input, { seconds: from, target, limits }))
    if (!(await exists(target)))
      throw broken(new Error(`nothing is shown at ${seconds} s, but until ${until} s`))
  }
  const bytes = await readFile(target, { signal })
  return assetFromBytes(bytes, { mediaType: 'image/jpeg', lastModified: new Date() })
}

function frameCommand(
  { path, demuxer, source }: VideoInput,
  { seconds, target, limits }: { seconds: number; target: string; limits: TransformLimits },
): FfmpegCommand {
  const { sourceMaxPixels, timeoutMs } = limits
  const quiet = ['-nostdin', '-hide_banner', '-loglevel', 'error']
  // In seconds of a core: it ends itself, should nobody be left to end it.
  const bounded = ['-timelimit', String(Math.ceil(timeoutMs / 1000)), '-threads', '1']
  return (
    ffmpeg()
      .input(inputPath(path))
      .inputOptions([...quiet, ...bounded, ...guardedInput(demuxer, sourceMaxPixels)])
      .seekInput(seconds)
      .outputOptions(['-map', `0:${source.stream}`, '-an', '-sn', '-dn', '-filter_threads', '1'])
      .videoFilters(filters(source))
      // The best that there is: what is sent is encoded once more.
      .outputOptions(['-c:v', 'mjpeg', '-q:v', '1', '-qmin', '1'])
      .outputOptions(['-f', 'image2', '-update', '1'])
      .output(target)
  )
}

/** Square pixels, and colours as a JPEG has them: all of it in BT.601, from 0 to 255. ffmpeg has turned it by then. */
function filters({ colorMatrix, width, height }: VideoInput['source']): string[] {
  const isHd = Math.min(width, height) >= HD_HEIGHT
  const matrix = colorMatrix === undefined && isHd ? ':in_color_matrix=bt709' : ''
  return [
    `scale=w=${width}:h=${height}${matrix}:out_color_matrix=bt601:out_range=full`,
    'setsar=1',
    'format=yuvj444p',
  ]
}

/**
 * Runs a command to its end. fluent-ffmpeg puts its arguments together; were it to run them as well, it would ask ffmpeg for
 * all its formats first, and a signal that came before the process would be lost.
 * @throws Problem 422 for one that takes too long, 501, Error with its last words when it fails
 */
async function run(command: FfmpegCommand, watch: Watch): Promise<void> {
  await outputOf('ffmpeg', command._getArguments(), { ...watch, maxBytes: MAX_PRINTED_BYTES })
}

/** Which programs are missing: looked for until both were found. One that is removed later is a 501 as it is called. */
function createPrograms() {
  let found: Promise<string[]> | undefined
  let lookedAt = 0
  const look = async () => {
    const names = ['ffmpeg', 'ffprobe'] as const
    const missing = await Promise.all(names.map(async (name) => ((await isInstalled(name)) ? [] : [name])))
    return missing.flat()
  }
  return {
    async missing(): Promise<string[]> {
      const last = await found
      if (last?.length === 0) return last
      if (last === undefined || Date.now() - lookedAt > LOOK_AGAIN_MS) {
        lookedAt = Date.now()
        found = look()
      }
      return (await found) ?? []
    },
  }
}

async function isInstalled(program: 'ffmpeg' | 'ffprobe'): Promise<boolean> {
  const signal = new AbortController().signal
  try {
    await outputOf(program, ['-version'], { signal, timeoutMs: VERSION_WATCH_MS, maxBytes: 100_000 })
    return true
  } catch (error) {
    // Whatever else is wrong with it shows when it is called.
    return !(error instanceof Problem && error.status === 501)
  }
}

/** @throws Problem 404 when work has failed on a file that is not there any more */
async function unlessGone<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const isGone = await stat(path).then(
      () => false,
      ({ code }: NodeJS.ErrnoException) => code === 'ENOENT',
    )
    throw isGone ? fileNotFound() : error
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** @throws Problem 422 for a file that is too long */
function checkSize({ size }: Asset, { videoMaxBytes }: TransformLimits): void {
  if (size <= videoMaxBytes) return
  throw notTransformable(
    `expected a video of at most ${videoMaxBytes} bytes to transform but this one has ${size}`,
  )
}

/** 400, as for any moment past the end, but the video does not say where that is. */
function pastTheEnd(seconds: number): Problem {
  const expected = 'a moment within this video, which does not say how long it is,'
  return badParameter({ param: 'duration', expected, received: `${seconds} s` })
}
