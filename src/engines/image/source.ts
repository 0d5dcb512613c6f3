import type { Sharp } from 'sharp'
import type { Asset, ImageFile } from '../../core/bytes/asset.ts'
import { isAnimated } from '../../core/media/formats.ts'
import type { Gains } from './gain-map/gains.ts'
import type { ImageHeader } from './header.ts'

declare module '../../core/plugin-api/plugin.ts' {
  interface Engines {
    sharp: { draft: Sharp; source: ImageSource; opening: ImageOpening }
  }
}

/** Facts about an image before the first step, and again before each step that starts a new pass. */
export interface ImageSource {
  /** Size of one frame, in pixels, after it has been turned upright. */
  width: number
  height: number
  /** Frames in use; 1 for a still image. */
  pages: number
  hasAlpha: boolean
  /** The original's format, by Sluice's name: `jpeg`, `png`; `svg` while it can still be drawn in any size. */
  format: string
  /** The draft has the source's own colours and its ICC profile; otherwise its colours are sRGB. */
  keepsProfile?: true
  /** Device pixels per pixel of the URL's parameters, after the resize; 1 before it. */
  dpr: number
  /** By how much the resize has reduced the sides: 2 for half of the width. At most 1 without a reduction. */
  reduction: number
  /**
   * In this pass the image is cropped or padded after the resize. sharp does this after all other changes of the
   * shape.
   */
  framed?: true
  /** Set when the opening requests it and the source has one: the gain map, which the rendered JPEG or AVIF gets too. */
  gainMap?: GainMap | undefined
  /** Set for an animation. */
  timing?: Timing
  /** The original's file, in the first pass. Absent for a part of a file, such as a page. */
  file?: SourceFile | undefined
  /** How an animation is encoded as AVIF, in place of the encoder of the draft. */
  sequence?: SequenceEncoding | undefined
  /** The bytes of the output, in place of the draft: those of the original, without metadata. */
  encoded?: Buffer | undefined
}

/** How the frames of an animation are encoded as AVIF. */
export interface SequenceEncoding {
  /** From 1 to 100, as for a still AVIF. */
  quality: number
  lossless: boolean
}

export interface SourceFile extends ImageFile {
  /**
   * Reads the file without its metadata. Undefined when that would look different: by its orientation, its colours, or
   * because it is truncated.
   */
  plain?: () => Promise<Buffer | undefined>
}

/** The durations of the frames of an animation in milliseconds, and how often it is shown; 0 is forever. */
export interface Timing {
  delay: number[]
  loop: number
}

/** The gain map of a photo: a small image that states how much brighter HDR screens show each part. */
export interface GainMap {
  /** A file that libvips reads. */
  bytes: Buffer
  /** The EXIF orientation by which it is turned like the photo. */
  orientation: number
  /** The values that its 256 values become, to mean these gains. Without one, its values stay. */
  curve?: Uint8Array
  /** What its pixels mean. */
  gains: Gains
  /** Its size, relative to that of the photo. */
  scale: number
}

export interface ImageOpening {
  /** Use all frames of an animation (the default) or only the first. */
  frames: 'all' | 'first'
  /** The frame of an animation or page of a TIFF to use instead of the first, from 1. */
  page: number
  /** Preserve colours and profile of an RGB image, or convert them to sRGB (the default). */
  profile: 'keep' | 'srgb'
  /** Read the gain map, or ignore it (the default). */
  gainMap: 'keep' | 'ignore'
  /** Apply the EXIF orientation before every step. */
  upright: boolean
  /** An SVG is drawn in a requested size, so its own size may exceed the pixel limit. */
  fitted: boolean
  /** A step uses pixels of the image's own size, so this size must be within the pixel limit. */
  inOwnPixels: boolean
}

// Colour spaces whose red, green and blue the profile defines.
const RGB = new Set(['srgb', 'rgb', 'rgb16'])

/** Returns the facts about an image that is opened with these options. */
export function describe(
  header: ImageHeader,
  { frames, upright, profile }: Pick<ImageOpening, 'frames' | 'upright' | 'profile'>,
): ImageSource {
  const { width, height } = upright ? header.autoOrient : header
  const pages = frames === 'all' && isAnimated(header.format) ? (header.pages ?? 1) : 1
  const timing = { delay: header.delay ?? [], loop: header.loop ?? 0 }
  // A profile for CMYK or grey would not match the output, which is always RGB.
  const keepsProfile = profile === 'keep' && header.hasProfile && RGB.has(header.space)
  return {
    width,
    height,
    pages,
    hasAlpha: header.hasAlpha,
    format: formatName(header.format),
    ...(keepsProfile ? { keepsProfile } : {}),
    dpr: 1,
    reduction: 1,
    ...(pages > 1 && timing.delay.length > 0 ? { timing } : {}),
  }
}

/** The facts about the file of an image with this header. */
export function fileOf(header: ImageHeader, { size }: Pick<Asset, 'size'>): ImageFile {
  const { width, height } = header.autoOrient
  const { quality } = header
  return { bytes: size, width, height, ...(quality === undefined ? {} : { quality }) }
}

/** libvips names the container of an AVIF `heif`. It reads no other format of that family. */
export function formatName(name: string): string {
  return name === 'heif' ? 'avif' : name
}
