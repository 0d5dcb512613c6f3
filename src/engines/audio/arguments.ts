import type { TransformLimits } from '../../core/plugin-api/limits.ts'
import { guardedInput, inputPath } from '../ffmpeg/input.ts'
import type { AudioDraft, AudioFormat } from './source.ts'

/** What EBU R128 says of sound: its loudness in LUFS, and its highest peak, also between samples, in dBTP. */
export interface Loudness {
  integrated: number
  truePeak: number
}

// What is no louder does not count, by EBU R128.
const SILENCE = -70
// As loud as podcasts and streamed music are. The peak leaves room for what a lossy encoder adds.
const TARGET = { integrated: -16, truePeak: -1.5 }
// Of samples: what lies between them is up to 1 dB higher.
const LIMIT = 0.75
const ENCODERS: Readonly<Record<AudioFormat, Encoder>> = {
  mp3: { encoder: 'libmp3lame', muxer: 'mp3', kilobits: 128 },
  m4a: { encoder: 'aac', muxer: 'ipod', kilobits: 128 },
  ogg: { encoder: 'libvorbis', muxer: 'ogg', kilobits: 128, bounds: { mono: [32, 240], stereo: [45, 500] } },
  opus: { encoder: 'libopus', muxer: 'opus', kilobits: 96, bounds: { mono: [6, 256], stereo: [6, 512] } },
  wav: { encoder: 'pcm_s16le', muxer: 'wav' },
  flac: { encoder: 'flac', muxer: 'flac' },
}

interface Encoder {
  encoder: string
  muxer: string
  /** What is usual; none where nothing is lost. */
  kilobits?: number
  /** Past these it refuses to work: the nearest is taken. Others do that themselves. */
  bounds?: { mono: readonly [number, number]; stereo: readonly [number, number] }
}

const PROGRESS = ['-nostats', '-progress', 'pipe:1']
// Of FLAC.
const MAX_CHANNELS = 8
// libvorbis knows bit rates for these only: other sound is resampled.
const VORBIS_RATES = [44_100, 48_000]

/**
 * The arguments with which ffmpeg makes the sound that a draft asks for, in one run, into the file `target`. The lines of
 * its progress go to its standard output.
 *
 * @param options.loudness as measured; undefined when it is left as it is
 */
export function audioArguments(
  draft: AudioDraft,
  {
    format,
    target,
    limits,
    loudness,
  }: { format: AudioFormat; target: string; limits: TransformLimits; loudness?: Loudness | undefined },
): string[] {
  const { encoder, muxer, kilobits, bounds } = ENCODERS[format]
  const isLossless = kilobits === undefined
  const { channels, sampleRate } = draft.input.source
  const resampled = format === 'ogg' && !VORBIS_RATES.includes(sampleRate) ? ['aresample=48000'] : []
  const filters = [...(loudness ? [normalizing(loudness)] : []), ...resampled]
  const [atLeast, atMost] = bounds?.[channels === 1 ? 'mono' : 'stereo'] ?? [0, Number.POSITIVE_INFINITY]
  const bitRate = Math.max(atLeast, Math.min(atMost, draft.kilobits ?? kilobits ?? 0))
  return [
    ...[...PROGRESS, ...reading(draft, limits)],
    // Said in any case: of some files no filter knows which channels there are.
    ...['-ac', String(Math.min(channels, isLossless ? MAX_CHANNELS : 2))],
    ...(filters.length > 0 ? ['-af', filters.join(',')] : []),
    ...['-c:a', encoder, ...(isLossless ? [] : ['-b:a', `${bitRate}k`])],
    // A player needs the index of MP4 first; a WAV above 4 GB is an RF64.
    ...(format === 'm4a' ? ['-movflags', '+faststart'] : []),
    ...(format === 'wav' ? ['-rf64', 'auto'] : []),
    ...['-fs', String(limits.outputMaxBytes), '-f', muxer, '-y', target],
  ]
}

/**
 * The arguments with which ffmpeg says how loud a draft is, at the end of its words: a fifth of the time that `loudnorm`
 * takes to measure the same. The lines of its progress go to its standard output.
 */
export function loudnessArguments(draft: AudioDraft, limits: TransformLimits): string[] {
  const measuring = ['-af', 'ebur128=peak=true:framelog=verbose']
  return [...PROGRESS, ...reading(draft, limits, 'info'), ...measuring, '-f', 'null', '-']
}

/** The arguments with which ffmpeg writes a draft's samples to its standard output: one channel, 16 bits, lowest byte first. */
export function samplesArguments(
  draft: AudioDraft,
  { limits, loudness }: { limits: TransformLimits; loudness?: Loudness | undefined },
): string[] {
  const filters = loudness ? ['-af', normalizing(loudness)] : []
  const raw = ['-ac', '1', ...filters, '-c:a', 'pcm_s16le', '-f', 's16le', 'pipe:1']
  return ['-nostats', ...reading(draft, limits), ...raw]
}

/** How many bytes the outcome will have; undefined where only an encoder knows. A WAV has 16 bits a sample. */
export function audioBytes(draft: AudioDraft, format: AudioFormat): number | undefined {
  const seconds = audioSeconds(draft)
  if (format !== 'wav' || seconds === undefined) return undefined
  const { channels, sampleRate } = draft.input.source
  return Math.ceil(seconds * sampleRate) * Math.min(channels, MAX_CHANNELS) * 2
}

/** How long the outcome will be, in seconds; undefined where the source does not say. */
export function audioSeconds({ input, startSeconds = 0, endSeconds }: AudioDraft): number | undefined {
  const { durationSeconds = endSeconds } = input.source
  if (durationSeconds === undefined) return undefined
  return Math.min(durationSeconds, endSeconds ?? durationSeconds) - startSeconds
}

/** The part of the source that is asked for: its sound, and nothing that was said of it. */
function reading(
  { input, startSeconds = 0, endSeconds }: AudioDraft,
  { sourceMaxPixels, timeoutMs }: TransformLimits,
  loglevel: 'error' | 'info' = 'error',
): string[] {
  return [
    ...['-nostdin', '-hide_banner', '-loglevel', loglevel],
    // In seconds of a core, of which it takes two at most: it ends itself, should nobody be left to end it.
    ...['-timelimit', String(2 * Math.ceil(timeoutMs / 1000))],
    ...guardedInput(input.demuxer, sourceMaxPixels),
    ...(startSeconds > 0 ? ['-ss', String(startSeconds)] : []),
    ...['-i', inputPath(input.path)],
    ...(endSeconds === undefined ? [] : ['-t', String(endSeconds - startSeconds)]),
    ...['-map', `0:${input.source.stream}`, '-map_metadata', '-1', '-map_chapters', '-1'],
  ]
}

/** How loud sound is, in the last words of a measurement; undefined for silence, of which no factor makes anything else. */
export function loudnessIn(words: string): Loudness | undefined {
  const summary = words.slice(words.lastIndexOf('Summary:'))
  const said = (name: string) => Number(new RegExp(`${name}:\\s+(\\S+) `).exec(summary)?.[1])
  const [integrated, truePeak] = [said('I'), said('Peak')]
  const isHeard = integrated > SILENCE && Number.isFinite(truePeak)
  return isHeard ? { integrated, truePeak } : undefined
}

/** One factor for all of it; peaks that have no room for that are pressed by themselves. */
function normalizing({ integrated, truePeak }: Loudness): string {
  const gain = TARGET.integrated - integrated
  const louder = `volume=${gain.toFixed(1)}dB`
  if (truePeak + gain <= TARGET.truePeak) return louder
  return `${louder},alimiter=limit=${LIMIT}:level=disabled`
}
