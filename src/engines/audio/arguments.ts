import type { TransformLimits } from '../../core/plugin-api/limits.ts'
import { guardedInput, inputPath } from '../ffmpeg/input.ts'
import { isCopied, kilobitsOf } from './rate.ts'
import type { AudioDraft, AudioFormat } from './source.ts'

/** Measurements of EBU R128: the loudness in LUFS, and the true peak, also between samples, in dBTP. */
export interface Loudness {
  integrated: number
  truePeak: number
}

// EBU R128 ignores audio at or below this loudness.
const SILENCE = -70
// The usual loudness of podcasts and streamed music. The peak leaves room for the overshoot of a lossy encoder.
const TARGET = { integrated: -16, truePeak: -1.5 }
// Limit of sample values: peaks between samples are up to 1 dB higher.
const LIMIT = 0.75
const ENCODERS: Readonly<Record<AudioFormat, { encoder: string; muxer: string }>> = {
  mp3: { encoder: 'libmp3lame', muxer: 'mp3' },
  m4a: { encoder: 'aac', muxer: 'ipod' },
  ogg: { encoder: 'libvorbis', muxer: 'ogg' },
  opus: { encoder: 'libopus', muxer: 'opus' },
  wav: { encoder: 'pcm_s16le', muxer: 'wav' },
  flac: { encoder: 'flac', muxer: 'flac' },
}

const PROGRESS = ['-nostats', '-progress', 'pipe:1']
// The limit of FLAC.
const MAX_CHANNELS = 8
// libvorbis supports bit rates for these sample rates only. Other audio is resampled.
const VORBIS_RATES = [44_100, 48_000]

/**
 * The arguments with which ffmpeg writes the audio of a draft in one run, into the file `target`. Progress lines go
 * to its standard output.
 *
 * @param options.loudness as measured; undefined to leave the loudness unchanged
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
  const { muxer } = ENCODERS[format]
  return [
    ...[...PROGRESS, ...inputArguments(draft, limits)],
    ...(isCopied(draft, format) ? ['-c:a', 'copy'] : encoding(draft, { format, loudness })),
    // In MP4, a player needs the index first. A WAV above 4 GB becomes an RF64.
    ...(format === 'm4a' ? ['-movflags', '+faststart'] : []),
    ...(format === 'wav' ? ['-rf64', 'auto'] : []),
    ...['-fs', String(limits.outputMaxBytes), '-f', muxer, '-y', target],
  ]
}

function encoding(
  draft: AudioDraft,
  { format, loudness }: { format: AudioFormat; loudness: Loudness | undefined },
): string[] {
  const isLossless = format === 'wav' || format === 'flac'
  const { channels, sampleRate } = draft.input.source
  const resampled = format === 'ogg' && !VORBIS_RATES.includes(sampleRate) ? ['aresample=48000'] : []
  const filters = [...(loudness ? [normalizing(loudness)] : []), ...resampled]
  return [
    // Always set: for some files, filters do not know the channel layout.
    ...['-ac', String(Math.min(channels, isLossless ? MAX_CHANNELS : 2))],
    ...(filters.length > 0 ? ['-af', filters.join(',')] : []),
    ...['-c:a', ENCODERS[format].encoder],
    ...(isLossless ? [] : ['-b:a', `${kilobitsOf(draft, format)}k`]),
  ]
}

/**
 * The arguments with which ffmpeg measures the loudness of a draft, and prints it last on standard error. This takes
 * a fifth of the time of the same measurement by `loudnorm`. Progress lines go to its standard output.
 */
export function loudnessArguments(draft: AudioDraft, limits: TransformLimits): string[] {
  const measuring = ['-af', 'ebur128=peak=true:framelog=verbose']
  return [...PROGRESS, ...inputArguments(draft, limits, 'info'), ...measuring, '-f', 'null', '-']
}

/**
 * The arguments with which ffmpeg writes a draft's samples to its standard output: one channel, 16 bits,
 * little-endian.
 */
export function samplesArguments(
  draft: AudioDraft,
  { limits, loudness }: { limits: TransformLimits; loudness?: Loudness | undefined },
): string[] {
  const filters = loudness ? ['-af', normalizing(loudness)] : []
  const raw = ['-ac', '1', ...filters, '-c:a', 'pcm_s16le', '-f', 's16le', 'pipe:1']
  return ['-nostats', ...inputArguments(draft, limits), ...raw]
}

/** The size of the output in bytes; undefined when only the encoder knows it. A WAV has 16 bits per sample. */
export function audioBytes(draft: AudioDraft, format: AudioFormat): number | undefined {
  const seconds = audioSeconds(draft)
  if (format !== 'wav' || seconds === undefined) return undefined
  const { channels, sampleRate } = draft.input.source
  return Math.ceil(seconds * sampleRate) * Math.min(channels, MAX_CHANNELS) * 2
}

/** The duration of the output in seconds; undefined when the source does not state it. */
export function audioSeconds({ input, startSeconds = 0, endSeconds }: AudioDraft): number | undefined {
  const { durationSeconds = endSeconds } = input.source
  if (durationSeconds === undefined) return undefined
  return Math.min(durationSeconds, endSeconds ?? durationSeconds) - startSeconds
}

/** Selects the requested part of the source: its audio, without metadata. */
function inputArguments(
  { input, startSeconds = 0, endSeconds }: AudioDraft,
  { sourceMaxPixels, timeoutMs }: TransformLimits,
  loglevel: 'error' | 'info' = 'error',
): string[] {
  return [
    ...['-nostdin', '-hide_banner', '-loglevel', loglevel],
    // In seconds of CPU time, of which it uses at most two per second: ffmpeg ends itself when its parent no longer
    // can.
    ...['-timelimit', String(2 * Math.ceil(timeoutMs / 1000))],
    ...guardedInput(input.demuxer, sourceMaxPixels),
    ...(startSeconds > 0 ? ['-ss', String(startSeconds)] : []),
    ...['-i', inputPath(input.path)],
    ...(endSeconds === undefined ? [] : ['-t', String(endSeconds - startSeconds)]),
    ...['-map', `0:${input.source.stream}`, '-map_metadata', '-1', '-map_chapters', '-1'],
  ]
}

/** Reads the loudness from the end of ffmpeg's messages; undefined for silence, which no gain can make louder. */
export function loudnessIn(words: string): Loudness | undefined {
  const summary = words.slice(words.lastIndexOf('Summary:'))
  const measured = (name: string) => Number(new RegExp(`${name}:\\s+(\\S+) `).exec(summary)?.[1])
  const [integrated, truePeak] = [measured('I'), measured('Peak')]
  const isHeard = integrated > SILENCE && Number.isFinite(truePeak)
  return isHeard ? { integrated, truePeak } : undefined
}

/** One gain for the whole file. A limiter reduces the peaks that would exceed the target. */
function normalizing({ integrated, truePeak }: Loudness): string {
  const gain = TARGET.integrated - integrated
  const louder = `volume=${gain.toFixed(1)}dB`
  if (truePeak + gain <= TARGET.truePeak) return louder
  return `${louder},alimiter=limit=${LIMIT}:level=disabled`
}
