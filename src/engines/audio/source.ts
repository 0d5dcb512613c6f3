import type { MediaFile } from '../ffmpeg/media-file.ts'

declare module '../../core/plugin-api/plugin.ts' {
  interface Engines {
    'ffmpeg-audio': { draft: AudioDraft; source: AudioSource; opening: Record<string, never> }
  }
}

/**
 * What is to be made of sound: plugins write here what they ask for, and one process does all of it. With `waveform` a
 * drawing of it, else sound as `format` says.
 */
export interface AudioDraft {
  format?: AudioFormat
  /** Of what loses something as it is encoded, in kbit/s; the encoder's usual one unless given. */
  kilobits?: number
  /** From this moment on, in seconds from 0. */
  startSeconds?: number
  /** Up to this moment, not including it; the end of the sound where that is earlier. */
  endSeconds?: number
  /** As loud as other sound is. */
  isNormalized?: boolean
  waveform?: Waveform
  /** The engine's own: what it has opened. */
  readonly input: AudioInput
}

/** What sound can be written as, by the format's name. */
const AUDIO_FORMATS = ['mp3', 'm4a', 'ogg', 'opus', 'wav', 'flac'] as const
export type AudioFormat = (typeof AUDIO_FORMATS)[number]

/** How far sound swings, drawn over time. */
export interface Waveform {
  /** Numbers, or a picture of them. */
  format: 'json' | 'png'
  /** In pixels: a picture is as wide, and of numbers there are no more. */
  width: number
  /** Of a picture, in pixels. */
  height: number
}

/** Sound that ffmpeg can read, and what is known of it. */
export interface AudioInput extends MediaFile {
  source: AudioSource
}

/** What is known of sound before any step. */
export interface AudioSource {
  /** Undefined where the file does not say. */
  durationSeconds: number | undefined
  /** By ffmpeg's name: `mp3`. */
  audioCodec: string
  channels: number
  /** In Hz. */
  sampleRate: number
  /** Which of the file's streams it is. */
  stream: number
}
