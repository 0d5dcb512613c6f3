import type { Asset } from '../core/asset.ts'
import { knownFormat } from '../core/media.ts'
import type { Engine, EngineContext } from '../core/plugin.ts'
import { notDecodable, notTransformable, Problem } from '../core/problem.ts'
import {
  audioArguments,
  audioSeconds,
  type Loudness,
  loudnessArguments,
  loudnessIn,
  samplesArguments,
} from './audio-arguments.ts'
import type { AudioDraft, AudioSource, Waveform } from './audio-source.ts'
import { notInstalled, type Running, ran } from './ffmpeg-process.ts'
import { probe, soundOf } from './ffprobe.ts'
import { checkMediaSize, type MediaFile, openMedia, unlessGone } from './media-file.ts'
import { createPrograms } from './programs.ts'
import { createScratch } from './scratch.ts'
import { drawn, findPeaks } from './waveform.ts'
import { writeMedia } from './write-media.ts'

// ffmpeg takes 40 MB for sound, of whatever length, and finding peaks another ten.
const SOUND_BYTES = 50_000_000
const MAX_PRINTED_BYTES = 100_000

export interface AudioEngineOptions {
  /** For temporary files, also those of videos; made when it is needed. */
  folder: string
  /** All of the environment that ffmpeg and ffprobe get. */
  env: Running['env']
}

/** Makes the engine for sound, through ffmpeg as a process of its own; nothing runs yet. */
export function createAudioEngine({ folder, env }: AudioEngineOptions): Engine<'ffmpeg-audio'> {
  const scratch = createScratch(folder)
  const programs = createPrograms(env)
  const runningOf = ({ signal, limits }: EngineContext): Running => ({
    ...{ signal, env, timeoutMs: limits.timeoutMs, group: 'audio' },
  })

  async function rendered(draft: AudioDraft, context: EngineContext): Promise<Asset> {
    const { limits } = context
    const running = runningOf(context)
    const loudness = draft.isNormalized ? await loudnessOf(draft, context, running) : undefined
    const { waveform, format } = draft
    if (waveform) return waveformOf(draft, waveform, { limits, loudness, running })
    if (format === undefined) throw new Error('no plugin has asked for anything of the sound')
    const writing = {
      format: knownFormat(format),
      seconds: audioSeconds(draft),
      argumentsFor: (target: string) => audioArguments(draft, { format, target, limits, loudness }),
      undecodable,
    }
    return writeMedia(writing, { ...context, scratch, env })
  }

  return {
    name: 'ffmpeg-audio',
    media: ['audio'],

    async forecast(source, _steps, { limits }) {
      const missing = await programs.missing()
      if (missing.length > 0) throw notInstalled(missing)
      checkMediaSize(source, limits)
      return { bytes: SOUND_BYTES, mayHang: false, ownProcess: true, source }
    },

    async open(asset, _opening, context) {
      const { signal, limits } = context
      const look = (file: MediaFile) => sourceOf(file, limits.sourceMaxPixels, runningOf(context))
      const { file, found: source } = await openMedia(asset, { scratch, signal, limits }, look)
      return { draft: { input: { ...file, source } }, source }
    },

    render: (draft, context) => unlessGone(draft.input.path, rendered(draft, context)),

    close: ({ draft }) => draft.input.remove(),

    settle: () => Promise.reject(new Error('sound has no passes')),

    frames: () => Promise.reject(new Error('sound has no frames')),

    async verify() {
      // Whatever is wrong with sound is a problem by the time it is opened and rendered.
    },
  }
}

/** @throws Problem 422 for what is none, 501 where ffprobe is missing */
async function sourceOf(file: MediaFile, maxPixels: number, running: Running): Promise<AudioSource> {
  const probed = await probe(file, { ...running, maxPixels }).catch((cause) => {
    throw orProblem(cause, running.signal)
  })
  const sound = soundOf(probed)
  if (!sound) throw notTransformable('expected an audio file with sound but this one has none')
  const { channels, sample_rate: sampleRate } = sound
  if (channels === undefined || sampleRate === undefined)
    throw undecodable(new Error('a stream of sound has no channels, or no rate'))
  return {
    durationSeconds: sound.duration ?? probed.format.duration,
    audioCodec: sound.codec_name,
    ...{ channels, sampleRate, stream: sound.index },
  }
}

/** How loud it is; undefined for silence. @throws Problem 422 */
async function loudnessOf(
  draft: AudioDraft,
  { limits }: EngineContext,
  running: Running,
): Promise<Loudness | undefined> {
  const asked = loudnessArguments(draft, limits)
  const { words } = await ran('ffmpeg', asked, { ...running, maxBytes: MAX_PRINTED_BYTES }).catch((cause) => {
    throw orProblem(cause, running.signal)
  })
  if (!words.includes('Summary:')) throw undecodable(new Error(`no loudness in ${words}`))
  return loudnessIn(words)
}

/** @throws Problem 422 for sound of which nothing can be decoded, or that takes too long */
async function waveformOf(
  draft: AudioDraft,
  waveform: Waveform,
  {
    limits,
    loudness,
    running,
  }: Pick<EngineContext, 'limits'> & { loudness: Loudness | undefined; running: Running },
): Promise<Asset> {
  const finder = findPeaks()
  const asked = samplesArguments(draft, { limits, loudness })
  const reading = { ...running, maxBytes: Number.POSITIVE_INFINITY, onOutput: finder.take }
  await ran('ffmpeg', asked, reading).catch((cause) => {
    throw orProblem(cause, running.signal)
  })
  const peaks = finder.peaks(waveform.width)
  if (peaks.data.length === 0) throw undecodable(new Error('nothing of it could be decoded'))
  return drawn(peaks, { waveform, sampleRate: draft.input.source.sampleRate })
}

function orProblem(cause: unknown, signal: AbortSignal): Problem {
  signal.throwIfAborted()
  return cause instanceof Problem ? cause : undecodable(cause)
}

/** 422: ffmpeg's own words are logged, and reach nobody else. */
function undecodable(cause: unknown): Problem {
  return notDecodable('expected an audio file that can be decoded but this one cannot', cause)
}
