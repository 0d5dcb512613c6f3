import { integer, oneOf } from './variable.ts'

/** Limits and settings of transformations. */
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
    // The limit of sharp.
    max: 268_402_689,
    unit: 'pixels',
    default: 50_000_000,
    help: 'Most pixels, over all frames, of an image that is transformed',
  }),
  IMAGE_TRUNCATED: oneOf({
    words: ['render', 'refuse'],
    default: 'render',
    help: 'What a transformation does with a truncated JPEG, PNG or GIF: render the part that is there, with a note in X-Sluice-Transform, or refuse it (422 truncated_image)',
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
  TRANSFORM_WAITING: integer({
    min: 4,
    max: 100_000,
    unit: 'transformations',
    default: 256,
    help: 'Most transformations that wait for their turn: one client may have half of the places, callers without a secret three quarters',
  }),
  TRANSFORM_WAITING_ADDRESS: integer({
    min: 1,
    max: 100_000,
    unit: 'transformations',
    default: 64,
    help: 'Most of them from one address without a secret',
  }),
  TRANSFORM_WAIT_SECONDS: integer({
    min: 1,
    max: 300,
    unit: 'seconds',
    default: 30,
    help: 'How long a transformation waits for its turn before a 503',
  }),
  TRANSFORM_MAX_MEMORY_BYTES: integer({
    min: 200_000_000,
    unit: 'bytes',
    default: 1_000_000_000,
    help: 'Memory at which a process that transforms is killed, and what all large transformations at a time may take together',
  }),
  MEDIA_MAX_MEMORY_BYTES: integer({
    min: 200_000_000,
    unit: 'bytes',
    default: 1024 ** 3,
    help: 'Memory at which ffmpeg or ffprobe is killed; the file is a 422 then. On Linux only',
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
    help: 'Video and audio jobs of one client that wait or run, more are a 429; callers without a secret get half of them, one address a quarter',
  }),
  MEDIA_JOBS_FOR: oneOf({
    words: ['everyone', 'presets', 'secret'],
    default: 'everyone',
    help: 'Who may begin video and audio jobs: everyone with a URL, requests by a preset or a signed URL, or callers with a secret only',
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
