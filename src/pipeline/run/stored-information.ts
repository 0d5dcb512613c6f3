import { z } from 'zod'

/** The stored information about an image or a document: an `ImageInformation`. */
export const imageInformation = z.object({
  width: z.number(),
  height: z.number(),
  pages: z.number().optional(),
  hasAlpha: z.boolean(),
  colorSpace: z.string(),
  exif: z
    .object({
      tags: z.record(z.string(), z.union([z.string(), z.number(), z.array(z.number())])),
      location: z
        .object({ latitude: z.number(), longitude: z.number(), altitude: z.number().optional() })
        .optional(),
    })
    .optional(),
  pageSizes: z.array(z.object({ width: z.number(), height: z.number() })).optional(),
  scriptsWithoutFont: z.array(z.string()).optional(),
  dominantColor: z.string().optional(),
  thumbHash: z.string(),
  blurHash: z.string(),
  // Absent in what an earlier version has stored.
  lqip: z.string().optional(),
})

/** The stored information about a video or audio file: `MediaFacts`. */
export const mediaFacts = z.object({
  container: z.string(),
  duration: z.number().optional(),
  bitrate: z.number().optional(),
  videoCodec: z.string().optional(),
  width: z.number().optional(),
  height: z.number().optional(),
  rotation: z.number().optional(),
  frameRate: z.number().optional(),
  audioCodec: z.string().optional(),
  channels: z.number().optional(),
  sampleRate: z.number().optional(),
})
