import type { EngineContext } from '../../core/plugin-api/plugin.ts'
import type { Running } from '../programs/run.ts'
import type { MediaFile } from './media-file.ts'

declare module '../../core/plugin-api/plugin.ts' {
  interface Engines {
    ffmpeg: { draft: VideoDraft; source: VideoSource; opening: Record<string, never> }
  }
}

/**
 * The unrendered output of a video. Plugins edit it, and one process renders all of it. With `frameAtSeconds` the
 * output is an image, and the other members are ignored. With `container` it is a video, with `ladder` a video in
 * several sizes, and with `isStoryboard` images of the whole video.
 */
export interface VideoDraft {
  /** Renders the frame at this time, in seconds from 0, as an image. */
  frameAtSeconds?: number
  container?: VideoContainer
  /** HLS: several sizes in short segments, from which a player chooses according to its bandwidth. */
  ladder?: 'hls'
  /** Small images of the whole video in one file, with a list of their times. */
  isStoryboard?: boolean
  /** Start in seconds from 0, inclusive. */
  startSeconds?: number
  /** End in seconds from 0, exclusive; the end of the video when that is earlier. */
  endSeconds?: number
  /** Crops each frame around its middle to this ratio of width to height. */
  aspectRatio?: number
  /** Limits in pixels, after the crop: frames are scaled down until they fit, never up. */
  maxWidth?: number
  maxHeight?: number
  /**
   * `automatic`: a good compromise of quality and bandwidth, at most 720p unless `maxWidth` or `maxHeight` are given.
   */
  quality?: 'high' | 'automatic'
  /**
   * Positions where a player may start: one key frame per `everyFrames` frames, or frequent ones at the beginning.
   * The encoder decides by default.
   */
  keyFrames?: { everyFrames: number } | 'boosted'
  isMute?: boolean
  /** The opened file, set by the engine. */
  readonly input: VideoInput
}

/** Output formats for video, by the format's name. */
const VIDEO_CONTAINERS = ['mp4', 'mov', 'webm', 'avi'] as const
export type VideoContainer = (typeof VIDEO_CONTAINERS)[number]

/** The arguments of a render. */
export interface RenderContext extends EngineContext, Pick<Running, 'env'> {
  /** Whether HDR can be converted for a standard screen. */
  canToneMap: boolean
}

/** A video that ffmpeg can read, with its facts. */
export interface VideoInput extends MediaFile {
  source: VideoSource
}

/** Facts about a video before any step. */
export interface VideoSource {
  /** Duration of the frames; undefined when the file does not state it, as a recording of a browser. */
  durationSeconds: number | undefined
  /** Displayed size in pixels: upright and with square pixels. */
  width: number
  height: number
  /** Clockwise rotation that turns the stored frames upright, in degrees. */
  rotation: 0 | 90 | 180 | 270
  /** The names in ffmpeg: `h264`, `aac`. */
  videoCodec: string
  audioCodec: string | undefined
  /** The cover of an audio file: one frame without a time. */
  isCover?: true
  /** Of the video, in bits per second; undefined when the file does not state it. */
  bitRate?: number | undefined
  /** By ffmpeg's name: `yuv420p`. */
  pixelFormat?: string | undefined
  /** Of a video with transparency: the decoder that reads it. */
  alphaDecoder?: string
  /** Whether its pixels are square, as stored. */
  isSquare?: boolean
  /** Whether each frame has the lines of two moments. */
  isInterlaced?: boolean
  audioChannels?: number | undefined
  /** In bits per second; undefined when the file does not state it. */
  audioBitRate?: number | undefined
  /** The index of the video stream in the file. */
  stream: number
  /** The matrix of the stored colours, by ffmpeg's name: `bt709`; undefined when the file does not state it. */
  colorMatrix: string | undefined
  /** The transfer function, by ffmpeg's name: `smpte2084` is HDR. */
  transfer: string | undefined
  /** The colour primaries, by ffmpeg's name: `bt2020`. */
  primaries: string | undefined
}
