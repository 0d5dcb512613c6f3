import type { Asset } from '../../core/bytes/asset.ts'
import { outputTooLarge } from '../../core/limit-problems.ts'
import { knownFormat } from '../../core/media/formats.ts'
import type { Engine, EngineContext } from '../../core/plugin-api/plugin.ts'
import { Problem } from '../../core/problem.ts'
import { notDecodable, notTransformable } from '../../core/transform-problems.ts'
import { audioStreamOf, probe } from '../ffmpeg/ffprobe.ts'
import { createPrograms, type Programs } from '../ffmpeg/installed.ts'
import { checkMediaSize, type MediaFile, openMedia, unlessGone } from '../ffmpeg/media-file.ts'
import { notInstalled, ran } from '../ffmpeg/process.ts'
import { withStallTimeout } from '../ffmpeg/watchdog.ts'
import { readProgress, writeMedia } from '../ffmpeg/write-media.ts'
import { type Running, runningOf, type Said } from '../programs/run.ts'
import { createScratch } from '../temp/scratch.ts'
import {
  audioArguments,
  audioBytes,
  audioSeconds,
  type Loudness,
  loudnessArguments,
  loudnessIn,
  samplesArguments,
} from './arguments.ts'
import type { AudioDraft, AudioSource, Waveform } from './source.ts'
import { drawn, findPeaks } from './waveform.ts'

// ffmpeg takes 40 MB for audio of any length, and the search for peaks another ten.
const AUDIO_BYTES = 50_000_000

export interface AudioEngineOptions {
  /** Folder of temporary files, shared with videos. It is created on demand. */
  folder: string
  /** The complete environment of ffmpeg and ffprobe. */
  env: Running['env']
  /** Maximum time without progress, in milliseconds; half a minute by default. */
  stallMs?: number | undefined
  /** The installed programs, when they are known. By default, the engine looks for them in `env`. */
  programs?: Programs | undefined
}

/** Creates the audio engine. It runs ffmpeg as child processes, and starts none yet. */
export function createAudioEngine({
  folder,
  env,
  stallMs,
  programs = createPrograms(env),
}: AudioEngineOptions): Engine<'ffmpeg-audio'> {
  const scratch = createScratch(folder)
  const runningIn = ({ signal, limits, spent }: EngineContext): Running =>
    runningOf(limits, { signal, env, group: 'audio', spent })

  async function rendered(draft: AudioDraft, context: EngineContext): Promise<Asset> {
    const { limits } = context
    const running = { ...runningIn(context), limits, stallMs }
    const loudness = draft.isNormalized ? await loudnessOf(draft, running) : undefined
    const { waveform, format } = draft
    if (waveform) return waveformOf(draft, waveform, { ...running, loudness })
    if (format === undefined) throw new Error('no plugin requested an output of the audio file')
    if ((audioBytes(draft, format) ?? 0) > limits.outputMaxBytes) throw outputTooLarge(limits.outputMaxBytes)
    const writing = {
      format: knownFormat(format),
      seconds: audioSeconds(draft),
      argumentsFor: (target: string) => audioArguments(draft, { format, target, limits, loudness }),
      undecodable,
    }
    return writeMedia(writing, { ...context, scratch, env, stallMs })
  }

  return {
    name: 'ffmpeg-audio',
    media: ['audio'],

    async forecast(source, _steps, { limits }) {
      const missing = await programs.missing()
      if (missing.length > 0) throw notInstalled(missing)
      checkMediaSize(source, limits)
      return { bytes: AUDIO_BYTES, mayHang: false, ownProcess: true, source }
    },

    async open(asset, _opening, context) {
      const { signal, limits } = context
      const look = (file: MediaFile) => sourceOf(file, limits.sourceMaxPixels, runningIn(context))
      const { file, found: source } = await openMedia(asset, { scratch, signal, limits }, look)
      return { draft: { input: { ...file, source } }, source }
    },

    render: (draft, context) => unlessGone(draft.input.path, rendered(draft, context)),

    close: ({ draft }) => draft.input.remove(),

    settle: () => Promise.reject(new Error('sound has no passes')),

    frames: () => Promise.reject(new Error('sound has no frames')),

    async verify() {
      // Errors in audio become problems when the file is opened or rendered.
    },
  }
}

/** @throws Problem 422 for a file without usable audio, 501 without ffprobe */
async function sourceOf(file: MediaFile, maxPixels: number, running: Running): Promise<AudioSource> {
  const probed = await probe(file, { ...running, maxPixels }).catch((cause) => {
    throw orProblem(cause, running.signal)
  })
  const audio = audioStreamOf(probed)
  if (!audio) throw notTransformable('expected an audio file with sound but found no audio stream')
  const { channels, sample_rate: sampleRate } = audio
  if (channels === undefined || sampleRate === undefined)
    throw undecodable(new Error('an audio stream has no channels or no sample rate'))
  return {
    durationSeconds: audio.duration ?? probed.format.duration,
    audioCodec: audio.codec_name,
    bitRate: audio.bit_rate ?? (probed.streams.length === 1 ? probed.format.bit_rate : undefined),
    channels,
    sampleRate,
    stream: audio.index,
  }
}

interface Reading extends Running, Pick<EngineContext, 'limits'> {
  stallMs: number | undefined
}

/** Measures the loudness; undefined for silence. @throws errors of {@link readThrough} */
async function loudnessOf(draft: AudioDraft, reading: Reading): Promise<Loudness | undefined> {
  const progress = readProgress()
  const { words } = await readThrough(loudnessArguments(draft, reading.limits), {
    ...reading,
    onOutput: (chunk) => progress.take(chunk.toString()),
  })
  if (!words.includes('Summary:')) throw undecodable(new Error(`no loudness in ${words}`))
  return loudnessIn(words)
}

/** @throws errors of {@link readThrough}, Problem 422 for audio of which nothing can be decoded */
async function waveformOf(
  draft: AudioDraft,
  waveform: Waveform,
  { loudness, ...reading }: Reading & { loudness: Loudness | undefined },
): Promise<Asset> {
  const finder = findPeaks()
  await readThrough(samplesArguments(draft, { limits: reading.limits, loudness }), {
    ...reading,
    onOutput(chunk) {
      finder.take(chunk)
      return true
    },
  })
  const peaks = finder.peaks(waveform.width)
  if (peaks.data.length === 0) throw undecodable(new Error('no part of the file could be decoded'))
  return drawn(peaks, { waveform, sampleRate: draft.input.source.sampleRate })
}

/**
 * Runs ffmpeg over a whole audio file.
 *
 * @param options.onOutput takes the output of ffmpeg; returns whether the work has progressed
 * @throws Problem 422 for a file that cannot be decoded or takes too long, 504 without progress, `signal.reason`
 */
async function readThrough(
  args: readonly string[],
  { onOutput, stallMs, signal, ...running }: Reading & { onOutput(chunk: Buffer): boolean },
): Promise<Said> {
  return withStallTimeout({ group: 'audio', stallMs, signal }, (joined, moved) =>
    ran('ffmpeg', args, {
      ...running,
      signal: joined,
      maxBytes: Number.POSITIVE_INFINITY,
      onOutput(chunk) {
        if (onOutput(chunk)) moved()
      },
    }),
  ).catch((cause) => {
    throw orProblem(cause, signal)
  })
}

function orProblem(cause: unknown, signal: AbortSignal): Problem {
  signal.throwIfAborted()
  return cause instanceof Problem ? cause : undecodable(cause)
}

/** Problem 422. The messages of ffmpeg go to the log only. */
function undecodable(cause: unknown): Problem {
  return notDecodable('expected an audio file that can be decoded but this one cannot', cause)
}
