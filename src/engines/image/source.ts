import type { Sharp } from 'sharp'
import { isAnimated } from '../../core/media/formats.ts'
import type { ImageHeader } from './header.ts'

declare module '../../core/plugin-api/plugin.ts' {
  interface Engines {
    sharp: { draft: Sharp; source: ImageSource; opening: ImageOpening }
  }
}

/** What is known of an image before the first step, and again before each that begins a new pass. */
export interface ImageSource {
  /** Of one frame, in pixels, after it has been turned upright. */
  width: number
  height: number
  /** Frames that are taken; 1 for a still picture. */
  pages: number
  hasAlpha: boolean
  /** The original's, by Sluice's name: `jpeg`, `png`, `svg` while it can still be drawn in any size. */
  format: string
  /** The draft has the source's own colours, and the ICC profile that says what they mean; else they are sRGB. */
  keepsProfile?: true
  /** Device pixels per pixel of what the URL asks for, once it has been resized for them; 1 unless it was. */
  dpr: number
  /** In this pass it is cut or framed after it has been resized, which sharp does last of all that changes its shape. */
  framed?: true
  /** Of an animation: how long each frame is shown, in ms, and how often all of them are; 0 is forever. */
  timing?: { delay: number[]; loop: number }
}

export interface ImageOpening {
  /** Take all frames of an animation (the default) or only the first. */
  frames: 'all' | 'first'
  /** Which frame of an animation or page of a TIFF is to be taken in place of the first, from 1. */
  page: number
  /** Leave colours and profile of an RGB picture as they are, or turn them into sRGB (the default). */
  profile: 'keep' | 'srgb'
  /** Turn it as its EXIF orientation says, before every step. */
  upright: boolean
  /** An SVG is drawn in a size that is requested: its own size may be past the limit of pixels. */
  fitted: boolean
  /** A step counts in pixels of the picture's own size, which therefore has to be within the limit after all. */
  inOwnPixels: boolean
}

// Of which the profile says what red, green and blue are.
const RGB = new Set(['srgb', 'rgb', 'rgb16'])

/** What a header says of a picture that is opened so. */
export function describe(
  header: ImageHeader,
  { frames, upright, profile }: Pick<ImageOpening, 'frames' | 'upright' | 'profile'>,
): ImageSource {
  const { width, height } = upright ? header.autoOrient : header
  const pages = frames === 'all' && isAnimated(header.format) ? (header.pages ?? 1) : 1
  const timing = { delay: header.delay ?? [], loop: header.loop ?? 0 }
  // One of CMYK or grey would not fit the pixels that are written, which are RGB in any case.
  const keepsProfile = profile === 'keep' && header.hasProfile && RGB.has(header.space)
  return {
    width,
    height,
    pages,
    hasAlpha: header.hasAlpha,
    format: formatName(header.format),
    ...(keepsProfile ? { keepsProfile } : {}),
    dpr: 1,
    ...(pages > 1 && timing.delay.length > 0 ? { timing } : {}),
  }
}

/** libvips calls the container of an AVIF by its family's name; it reads no other of that family. */
export function formatName(name: string): string {
  return name === 'heif' ? 'avif' : name
}
