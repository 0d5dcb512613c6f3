import { z } from 'zod'
import { MEDIA_GROUPS } from '../../core/media/groups.ts'
import type { Information } from '../../service/delivery/file-info.ts'
import { replyOf } from '../endpoint/named.ts'
import { instant, iso } from './instant.ts'

/** Information about an original. */
export const fileInformation = replyOf(
  'FileInformation',
  'Information about a file. Members that do not apply to its type are absent.',
  {
    sourceName: z.string().describe('Name of the file in the bucket.'),
    originalName: z.string().describe('Name of the uploaded file.'),
    mimeType: z.enum(MEDIA_GROUPS).describe('Type of the file in URLs.'),
    format: z.string().describe('Short name of the format.'),
    mediaType: z.string().describe('Media type.'),
    size: z.int().describe('Size in bytes.'),
    sha256: z.string().describe('SHA-256 of the bytes, in hexadecimal digits.'),
    uploadedAt: instant('When the file was stored.'),
    truncated: z.literal(true).describe('Set when the file ends too early.').optional(),
    width: z.number().describe('Width in pixels, after the image or video was turned upright.').optional(),
    height: z.number().describe('Height in pixels.').optional(),
    pages: z.number().describe('Frames of an animation, or pages of a document.').optional(),
    pageSizes: z
      .array(z.object({ width: z.number(), height: z.number() }).readonly())
      .readonly()
      .describe('Sizes of the first 100 pages of a document, in points of 1/72 inch.')
      .optional(),
    scriptsWithoutFont: z
      .array(z.string())
      .readonly()
      .describe(
        'Scripts of text on the first 20 pages of a PDF that is not drawn, because its font is not in the file.',
      )
      .optional(),
    hasAlpha: z.boolean().describe('Whether an image has an alpha channel.').optional(),
    colorSpace: z.string().describe('Colour space of an image, by its libvips name.').optional(),
    dominantColor: z.string().describe('Most frequent colour of an image, as `#rrggbb`.').optional(),
    thumbHash: z.string().describe('ThumbHash of an image, in base64.').optional(),
    blurHash: z.string().describe('BlurHash of an image.').optional(),
    lqip: z
      .string()
      .describe('Placeholder of an image: a data URI of a WebP of at most 16 x 16 px.')
      .optional(),
    exif: z
      .record(z.string(), z.union([z.string(), z.number(), z.array(z.number()).readonly()]))
      .describe('Exif tags by name.')
      .optional(),
    location: z
      .object({ latitude: z.number(), longitude: z.number(), altitude: z.number().optional() })
      .describe('GPS position of a photo, only if the request has `location`.')
      .optional(),
    container: z.string().describe('Container of a video or audio file: `mp4`, `matroska`.').optional(),
    duration: z.number().describe('Duration in seconds.').optional(),
    bitrate: z.number().describe('Bit rate in bits per second.').optional(),
    videoCodec: z.string().describe('Video codec, by its name in ffmpeg.').optional(),
    rotation: z.number().describe('Clockwise rotation of the stored frames, in degrees.').optional(),
    frameRate: z.number().describe('Frames per second, on average.').optional(),
    audioCodec: z.string().describe('Audio codec, by its name in ffmpeg.').optional(),
    channels: z.number().describe('Number of audio channels.').optional(),
    sampleRate: z.number().describe('Sample rate in Hz.').optional(),
    encoding: z
      .enum(['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'])
      .describe('Encoding of the characters of a text.')
      .optional(),
    lines: z.number().describe('Number of lines of a text of at most 1 MiB.').optional(),
    entryCount: z.number().describe('Number of entries of a ZIP.').optional(),
    entries: z
      .array(
        z
          .object({
            name: z.string(),
            size: z.number(),
            compressedSize: z.number(),
            encrypted: z.literal(true).optional(),
          })
          .readonly(),
      )
      .readonly()
      .describe('First 1000 entries of a ZIP, with their sizes in bytes.')
      .optional(),
    problem: z
      .object({ code: z.string(), detail: z.string() })
      .describe('Why the information is incomplete.')
      .optional(),
  },
)

/** The information about a file as JSON members. The GPS position of a photo is included only if it was requested. */
export function informationToWire(
  { name, record, image, media, archive, text, problem }: Information,
  { withLocation }: { withLocation: boolean },
): z.input<typeof fileInformation> {
  const { exif, ...known } = image ?? {}
  return {
    sourceName: name.sourceName,
    originalName: record.originalName,
    mimeType: name.format.group,
    format: name.format.name,
    mediaType: record.mediaType,
    size: record.size,
    sha256: record.sha256,
    uploadedAt: iso(record.storedAt),
    ...(record.truncated ? { truncated: true } : {}),
    ...known,
    ...media,
    ...archive,
    ...text,
    ...(exif ? { exif: exif.tags } : {}),
    ...(withLocation && exif?.location ? { location: exif.location } : {}),
    ...(problem ? { problem: { code: problem.code, detail: problem.message } } : {}),
  }
}
