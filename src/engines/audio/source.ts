import type { MediaFile } from '../ffmpeg/media-file.ts'

declare module '../../core/plugin-api/plugin.ts' {
  interface Engines {
    'ffmpeg-audio': { draft: AudioDraft; source: AudioSource; opening: Record<string, never> }
  }
}

/**
 * The unrendered output of an audio file. Plugins edit it, and one process renders all of it. With `waveform` the
 * output is a waveform, otherwise audio in `format`.
 */
export interface AudioDraft {
  format?: AudioFormat
  /** Bit rate of a lossy format, in kbit/s; by default the encoder's usual one. */
  kilobits?: number
  /** Start in seconds from 0, inclusive. */
  startSeconds?: number
  /** End in seconds from 0, exclusive; the end of the file when that is earlier. */
  endSeconds?: number
  /** Normalizes the loudness. */
  isNormalized?: boolean
  waveform?: Waveform
  /** The opened file, set by the engine. */
  readonly input: AudioInput
}

/** Output formats for audio, by the format's name. */
const AUDIO_FORMATS = ['mp3', 'm4a', 'ogg', 'opus', 'wav', 'flac'] as const
export type AudioFormat = (typeof AUDIO_FORMATS)[number]

/** A waveform: the amplitude of the audio over time. */
export interface Waveform {
  /** Numbers, or an image of them. */
  format: 'json' | 'png'
  /** Width of the image in pixels, or the maximum number of parts in the JSON. */
  width: number
  /** Height of the image in pixels. */
  height: number
}

/** An audio file that ffmpeg can read, with its facts. */
export interface AudioInput extends MediaFile {
  source: AudioSource
}

/** Facts about an audio file before any step. */
export interface AudioSource {
  /** Undefined when the file does not state it. */
  durationSeconds: number | undefined
  /** The name in ffmpeg: `mp3`. */
  audioCodec: string
  /** Bits per second; undefined when the file does not state it. */
  bitRate?: number | undefined
  channels: number
  /** Sample rate in Hz. */
  sampleRate: number
  /** The index of the stream in the file. */
  stream: number
}
