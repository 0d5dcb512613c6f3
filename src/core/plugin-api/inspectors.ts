import type { Asset } from '../bytes/asset.ts'
import type { Size } from '../geometry/box.ts'
import type { Exif } from '../media/exif.ts'
import type { EngineContext } from './plugin.ts'

/** Facts from an image's header. */
export interface ImageFacts {
  /** Size of one frame, in pixels, after it has been turned upright. */
  width: number
  height: number
  /**
   * Frames of an animation, or pages of a document; 1 for a still image. Undefined when only a part of the file was
   * read.
   */
  pages?: number | undefined
  hasAlpha: boolean
  /** The libvips name: `srgb`, `b-w`, `cmyk`, `rgb16`. */
  colorSpace: string
  exif?: Exif | undefined
  pageSizes?: readonly Size[] | undefined
  scriptsWithoutFont?: readonly string[] | undefined
}

/** Facts about the pages of a document. */
export interface PageFacts {
  pages: number
  /** Upright sizes of the first 100 pages, in points of 1/72 inch. */
  pageSizes: readonly Size[]
  /** The scripts of text on the first 20 pages that is not drawn: its font is not in the document. Absent when there are none. */
  scriptsWithoutFont?: readonly string[] | undefined
}

/** Facts that need the pixels of an image. */
export interface ImageColors {
  /** The most frequent colour as `#rrggbb`; undefined when the image is fully transparent. */
  dominantColor?: string | undefined
  /** Base64. @see https://evanw.github.io/thumbhash/ */
  thumbHash: string
  /** Transparent parts count as white. @see https://blurha.sh */
  blurHash: string
  /** A data URI of a WebP of at most 16 x 16 pixels. Absent in what an earlier version has stored. */
  lqip?: string | undefined
}

/** Reads facts from images. */
export interface ImageInspector {
  /**
   * Reads the header. @param options `maxBytes`: how many bytes of a longer file may be read. `decodes`: a decoder may read
   *   the whole file, in a process that can be killed
   * @returns undefined when the image cannot be read
   */
  facts(
    source: Asset,
    options: { maxBytes: number; decodes?: boolean; signal: AbortSignal },
  ): Promise<ImageFacts | undefined>
  /** Reads the colours. @param small an image of at most {@link SMALL_SIDE} pixels a side */
  colors(small: Asset, signal: AbortSignal): Promise<ImageColors>
}

/** The largest side from which a ThumbHash is computed. More pixels make no visible difference. */
export const SMALL_SIDE = 100

/** The facts about an image that are stored as a derivative of its own. */
export type ImageInformation = ImageFacts & ImageColors

/** How the characters of a text are encoded: with a byte order mark, as UTF-8, or in neither way. */
export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

/** Facts about a text, and about the page that shows its first lines. */
export interface TextFacts {
  encoding: TextEncoding
  /** The number of lines; undefined for a text above 1 MiB. A line break at the end begins no further line. */
  lines?: number
  /** Size of the page, in pixels. */
  width: number
  height: number
  pages: 1
}

/** Reads facts from texts. */
export interface TextInspector {
  /**
   * Reads at most the first MiB of a text, without rendering it.
   * @throws Problem 404, 503
   */
  facts(source: Asset, signal: AbortSignal): Promise<TextFacts>
}

/** The entries of an archive. */
export interface ArchiveFacts {
  /** The number of all entries, as the archive states it. */
  entryCount: number
  /** The first 1000 entries, fewer when their names are very long. Entries whose names leave the archive are left out. */
  entries: readonly ArchiveEntry[]
}

/** A file or folder in an archive; the name of a folder ends with a slash. */
export interface ArchiveEntry {
  /** At most 500 characters, without control characters. */
  name: string
  /** Sizes in bytes, as the archive states them. */
  size: number
  compressedSize: number
  encrypted?: true
}

/** Reads facts from archives. */
export interface ArchiveInspector {
  /**
   * Lists the entries of a ZIP from its end, without opening them.
   * @returns undefined for a corrupt archive
   * @throws Problem 404, 503
   */
  entries(source: Asset, signal: AbortSignal): Promise<ArchiveFacts | undefined>
}

/** Facts from the headers of a video or audio file. Codecs have ffmpeg's names: `h264`, `aac`. */
export interface MediaFacts {
  /** The container by its usual name: `mp4`, `matroska`. */
  container: string
  /** Duration in seconds. Undefined for a recording of a browser. A truncated file ends earlier. */
  duration?: number | undefined
  /** Bit rate of the whole file, in bits per second. */
  bitrate?: number | undefined
  videoCodec?: string | undefined
  /** Size of the displayed frames in pixels, upright and with square pixels. */
  width?: number | undefined
  height?: number | undefined
  /** Clockwise rotation of the stored frames for display, in degrees. */
  rotation?: number | undefined
  /** Frames per second, on average. */
  frameRate?: number | undefined
  audioCodec?: string | undefined
  channels?: number | undefined
  /** Sample rate in Hz. */
  sampleRate?: number | undefined
}

/** Reads facts from video and audio files. */
export interface MediaInspector {
  /** @throws Problem 404, 422 for an unreadable file, 501 without ffmpeg and ffprobe, 503 */
  facts(source: Asset, context: Pick<EngineContext, 'signal' | 'limits' | 'spent'>): Promise<MediaFacts>
}
