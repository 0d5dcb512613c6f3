import { integer, oneOf } from './variable.ts'

/** What may be transformed, and what transformations may take. */
export const TRANSFORMATION_VARIABLES = {
  AUTO_FORMAT: oneOf({
    words: ['accept', 'webp', 'avif'],
    default: 'accept',
    help: 'What f=auto delivers; accept: by the Accept header, with Vary; webp or avif: the same to every caller, for a CDN that ignores Vary',
  }),
  IMAGE_MAX_BYTES: integer({
    min: 1,
    max: 1_000_000_000,
    unit: 'bytes',
    default: 40_000_000,
    help: 'Largest image that is transformed; larger ones are only stored and delivered',
  }),
  VIDEO_MAX_BYTES: integer({
    min: 1,
    max: 1_000_000_000_000,
    unit: 'bytes',
    default: 4_000_000_000,
    help: 'Largest video that is transformed; larger ones are only stored and delivered',
  }),
  IMAGE_MAX_PIXELS: integer({
    min: 1,
    // What sharp takes.
    max: 268_402_689,
    unit: 'pixels',
    default: 50_000_000,
    help: 'Most pixels, over all frames, of an image that is transformed',
  }),
  TRANSFORM_TIMEOUT_SECONDS: integer({
    min: 1,
    max: 300,
    unit: 'seconds',
    default: 30,
    help: 'Time for a transformation',
  }),
  TRANSFORM_HANG_SECONDS: integer({
    min: 1,
    max: 300,
    unit: 'seconds',
    default: 10,
    help: 'Time for one of an SVG, of a TIFF, or from or to AVIF, whose process is killed then',
  }),
  TRANSFORM_MAX_MEMORY_BYTES: integer({
    min: 200_000_000,
    unit: 'bytes',
    default: 1_000_000_000,
    help: 'Memory at which a process that transforms is killed, and what all large transformations at a time may take together',
  }),
  MEDIA_TIMEOUT_SECONDS: integer({
    min: 1,
    max: 86_400,
    unit: 'seconds',
    default: 1800,
    help: 'Time for making one video',
  }),
  MEDIA_JOBS_LIMIT: integer({
    min: 1,
    max: 10_000,
    unit: 'videos',
    default: 20,
    help: 'Videos of one client in the making, those that wait included; another one is a 429',
  }),
  MEDIA_CONCURRENCY: integer({
    min: 1,
    max: 64,
    unit: 'videos',
    default: 1,
    help: 'Videos that one process makes at a time; one keeps all cores busy',
  }),
  MEDIA_JOBS_IN: oneOf({
    words: ['worker', 'web'],
    default: 'worker',
    help: 'Which processes make videos with REDIS_URL: those of npm run worker, or web processes; without it, the only one does',
  }),
}
