import type { EngineContext } from '../../core/plugin-api/plugin.ts'
import type { MediaFile } from './media-file.ts'
import type { Running } from './process.ts'

declare module '../../core/plugin-api/plugin.ts' {
  interface Engines {
    ffmpeg: { draft: VideoDraft; source: VideoSource; opening: Record<string, never> }
  }
}

/**
 * What is to be made of a video: plugins write here what they ask for, and one process does all of it. With
 * `frameAtSeconds` a picture comes of it, and the rest does not count; with `container` a video, or with `ladder` the same in several sizes; with
 * `isStoryboard` pictures of all of it.
 */
export interface VideoDraft {
  /** The frame that is shown at this moment becomes a picture; in seconds from 0. */
  frameAtSeconds?: number
  container?: VideoContainer
  /** Several sizes of it in short pieces, of which a player takes what its connection can carry. */
  ladder?: 'hls'
  /** Small pictures of it, all in one, and which stands for when. */
  isStoryboard?: boolean
  /** From this moment on, in seconds from 0. */
  startSeconds?: number
  /** Up to this moment, not including it; the end of the video where that is earlier. */
  endSeconds?: number
  /** What of each frame is kept, around its middle: how many times as wide as high. */
  aspectRatio?: number
  /** In pixels, of what is kept: it is made smaller until it fits, never larger. */
  maxWidth?: number
  maxHeight?: number
  /** `automatic`: what looks well and streams well, at most 720p unless `maxWidth` or `maxHeight` are given. */
  quality?: 'high' | 'automatic'
  /** Where a player may begin: at every so many frames, or often at first; where the encoder sees fit unless given. */
  keyFrames?: { everyFrames: number } | 'boosted'
  isMute?: boolean
  /** The engine's own: what it has opened. */
  readonly input: VideoInput
}

/** What a video can be written as, by the format's name. */
const VIDEO_CONTAINERS = ['mp4', 'mov', 'webm', 'avi'] as const
export type VideoContainer = (typeof VIDEO_CONTAINERS)[number]

/** What it takes to render a draft. */
export interface RenderContext extends EngineContext, Pick<Running, 'env'> {
  /** Whether HDR can be made what a usual screen shows. */
  canToneMap: boolean
}

/** A video that ffmpeg can read, and what is known of it. */
export interface VideoInput extends MediaFile {
  source: VideoSource
}

/** What is known of a video before any step. */
export interface VideoSource {
  /** How long pictures are shown; undefined where the file does not say: that of a browser's recording. */
  durationSeconds: number | undefined
  /** As it is shown, in pixels: turned upright, and of square pixels. */
  width: number
  height: number
  /** Clockwise, in degrees: what it takes to turn the stored pictures upright. */
  rotation: 0 | 90 | 180 | 270
  /** By ffmpeg's names: `h264`, `aac`. */
  videoCodec: string
  audioCodec: string | undefined
  /** Which of the file's streams has the pictures. */
  stream: number
  /** How its colours are stored, by ffmpeg's name: `bt709`; undefined where the file does not say. */
  colorMatrix: string | undefined
  /** How light becomes a number, likewise: `smpte2084` is HDR. */
  transfer: string | undefined
  /** Which colours its red, green and blue are, likewise: `bt2020`. */
  primaries: string | undefined
}
