import type { Log } from '../../core/log.ts'
import { formatOfMediaType } from '../../core/media/formats.ts'
import type { MediaInspector } from '../../core/plugin-api/inspectors.ts'
import type { Engine } from '../../core/plugin-api/plugin.ts'
import { Problem } from '../../core/problem.ts'
import { probe, undecodable } from '../ffmpeg/ffprobe.ts'
import { createPrograms, type Programs } from '../ffmpeg/installed.ts'
import { mediaFacts } from '../ffmpeg/media-facts.ts'
import { checkMediaSize, type MediaFile, openMedia, unlessGone } from '../ffmpeg/media-file.ts'
import { probeVideo } from '../ffmpeg/probe-video.ts'
import { INSTALL, notInstalled } from '../ffmpeg/process.ts'
import { type Running, runningOf } from '../programs/run.ts'
import { createScratch } from '../temp/scratch.ts'
import { frameOf } from './frame.ts'
import { streamed } from './hls.ts'
import { storyboard } from './storyboard.ts'
import { needsToneMapping, TONE_MAPPING_FILTERS } from './tone-mapping.ts'
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
