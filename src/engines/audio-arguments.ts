import type { TransformLimits } from '../core/plugin.ts'
import type { AudioDraft, AudioFormat } from './audio-source.ts'
import { guardedInput, inputPath } from './media-input.ts'

/** What EBU R128 says of sound: loudness in LUFS, its range in LU, its highest peak in dBTP. */
export interface Loudness {
  integrated: number
  range: number
  truePeak: number
  /** Below which nothing counts, in LUFS. */
  threshold: number
}

// As loud as podcasts and streamed music are. The peak leaves room for what a lossy encoder adds. A wide range stays one.
const TARGET = 'I=-16:TP=-1.5:LRA=20'
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
  const rate = format === 'ogg' && !VORBIS_RATES.includes(sampleRate) ? 48_000 : sampleRate
  // Else the filter's own 192 kHz would be kept. A lossy encoder takes the nearest that it knows.
  const resampled = isLossless || format === 'ogg' || loudness ? [`aresample=${rate}`] : []
  const filters = [...(loudness ? [normalizing(loudness)] : []), ...resampled]
  const [atLeast, atMost] = bounds?.[channels === 1 ? 'mono' : 'stereo'] ?? [0, Number.POSITIVE_INFINITY]
  const bitRate = Math.max(atLeast, Math.min(atMost, draft.kilobits ?? kilobits ?? 0))
  return [
    ...['-nostats', '-progress', 'pipe:1', ...reading(draft, limits)],
    // Said in any case: of some files no filter knows which channels there are.
    ...['-ac', String(Math.min(channels, isLossless ? MAX_CHANNELS : 2))],
    ...(filters.length > 0 ? ['-af', filters.join(',')] : []),
    ...['-c:a', encoder, ...(isLossless ? [] : ['-b:a', `${bitRate}k`])],
    // A player needs the index of MP4 first; a WAV above 4 GB is an RF64.
    ...(format === 'm4a' ? ['-movflags', '+faststart'] : []),
    ...(format === 'wav' ? ['-rf64', 'auto'] : []),
    ...['-f', muxer, '-y', target],
  ]
}

/** The arguments with which ffmpeg says how loud a draft is: JSON, the last of its words. */
export function loudnessArguments(draft: AudioDraft, limits: TransformLimits): string[] {
  const measuring = ['-af', `loudnorm=${TARGET}:print_format=json`]
  return ['-nostats', ...reading(draft, limits, 'info'), ...measuring, '-f', 'null', '-']
}

/** The arguments with which ffmpeg writes a draft's samples to its standard output: one channel, 16 bits, lowest byte first. */
export function samplesArguments(
  draft: AudioDraft,
  { limits, loudness }: { limits: TransformLimits; loudness?: Loudness | undefined },
): string[] {
  const { sampleRate } = draft.input.source
  const filters = [...(loudness ? [normalizing(loudness)] : []), `aresample=${sampleRate}`]
  const raw = ['-ac', '1', '-af', filters.join(','), '-c:a', 'pcm_s16le', '-f', 's16le', 'pipe:1']
  return ['-nostats', ...reading(draft, limits), ...raw]
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

/** By one factor for all of it, where its peaks have room for that. */
function normalizing({ integrated, range, truePeak, threshold }: Loudness): string {
  const measured = `measured_I=${integrated}:measured_LRA=${range}:measured_TP=${truePeak}`
  return `loudnorm=${TARGET}:${measured}:measured_thresh=${threshold}:linear=true`
}
