import { integer, oneOf } from './variable.ts'

/** Limits and resources of transformations. */
export const TRANSFORMATION_VARIABLES = {
  AUTO_FORMAT: oneOf({
    words: ['accept', 'webp', 'avif'],
    default: 'accept',
    help: 'Format of f=auto. accept: chosen by the Accept header, with Vary. webp or avif: the same for every caller, for a CDN that ignores Vary.',
  }),
  IMAGE_MAX_BYTES: integer({
    min: 1,
    max: 1_000_000_000,
    unit: 'bytes',
    default: 40_000_000,
    help: 'Maximum size of an image to transform. Larger images are only stored and delivered.',
  }),
  VIDEO_MAX_BYTES: integer({
    min: 1,
    max: 1_000_000_000_000,
    unit: 'bytes',
    default: 4_000_000_000,
    help: 'Maximum size of a video to transform. Larger videos are only stored and delivered.',
  }),
  IMAGE_MAX_PIXELS: integer({
    min: 1,
    // The maximum of sharp.
    max: 268_402_689,
    unit: 'pixels',
    default: 50_000_000,
    help: 'Maximum pixels of an image to transform, over all its frames.',
  }),
  IMAGE_TRUNCATED: oneOf({
    words: ['render', 'refuse'],
    default: 'render',
    help: 'Handling of a truncated JPEG, PNG or GIF. render: transform the part that exists, with a note in X-Sluice-Transform. refuse: 422 truncated_image.',
  }),
  TRANSFORM_TIMEOUT_SECONDS: integer({
    min: 1,
    max: 300,
    unit: 'seconds',
    default: 30,
    help: 'Timeout of an image transformation.',
  }),
  TRANSFORM_KILL_SECONDS: integer({
    min: 1,
    max: 300,
    unit: 'seconds',
    default: 10,
    help: 'Timeout of a transformation of an SVG or TIFF, or from or to AVIF. Its process is then killed.',
  }),
  TRANSFORM_WAITING: integer({
    min: 4,
    max: 100_000,
    unit: 'transformations',
    default: 256,
    help: 'Maximum number of waiting transformations. One client may have half of them, callers without a secret three quarters.',
  }),
  TRANSFORM_WAITING_ADDRESS: integer({
    min: 1,
    max: 100_000,
    unit: 'transformations',
    default: 64,
    help: 'Maximum number of waiting transformations per IP address without a secret.',
  }),
  TRANSFORM_WAIT_SECONDS: integer({
    min: 1,
    max: 300,
    unit: 'seconds',
    default: 30,
    help: 'Maximum time that a transformation waits for its turn. Then the response is 503.',
  }),
  TRANSFORM_MAX_MEMORY_BYTES: integer({
    min: 200_000_000,
    unit: 'bytes',
    default: 1_000_000_000,
    help: 'Memory limit of a process that transforms images, which is killed beyond it. Also the limit of all large transformations at the same time. The default in a container is at most 60 % of its memory.',
  }),
  MEDIA_MAX_MEMORY_BYTES: integer({
    min: 200_000_000,
    unit: 'bytes',
    default: 1024 ** 3,
    help: 'Memory limit of ffmpeg, ffprobe and LibreOffice. Beyond it, the process is killed and the response is 422. Linux only. The default in a container is at most 60 % of its memory.',
  }),
  MEDIA_TIMEOUT_SECONDS: integer({
    min: 1,
    max: 86_400,
    unit: 'seconds',
    default: 1800,
    help: 'Timeout of a media job. Office documents also have DOCUMENT_TIMEOUT_SECONDS.',
  }),
  MEDIA_JOBS_LIMIT: integer({
    min: 1,
    max: 10_000,
    unit: 'jobs',
    default: 20,
    help: 'Maximum number of waiting and running media jobs per client. Requests for further jobs return 429. Callers without a secret may have half of them, one IP address a quarter.',
  }),
  MEDIA_JOBS_FOR: oneOf({
    words: ['everyone', 'presets', 'secret'],
    default: 'everyone',
    help: 'Requests that may start media jobs. everyone: all requests. presets: requests with a preset, a signed URL or a secret. secret: requests with a secret only.',
  }),
  MEDIA_CONCURRENCY: integer({
    min: 1,
    max: 64,
    unit: 'jobs',
    default: 1,
    help: 'Maximum number of concurrent jobs of videos and audio per process. One job uses all cores.',
  }),
  DOCUMENT_CONCURRENCY: integer({
    min: 1,
    max: 64,
    unit: 'jobs',
    default: 2,
    help: 'Maximum number of Office documents that are converted at the same time per process. Each one uses one core, and 200 MB or more. They do not wait for videos and audio.',
  }),
  DOCUMENT_TIMEOUT_SECONDS: integer({
    min: 1,
    max: 3600,
    unit: 'seconds',
    default: 60,
    help: 'Timeout of the conversion of an Office document. A document of a hundred pages takes a few seconds.',
  }),
  DOCUMENT_SANDBOX: oneOf({
    words: ['required', 'optional'],
    default: 'required',
    help: 'Whether Office documents are converted only in a sandbox (Landlock of Linux 5.13, and Perl). With "optional", they are also converted without it: then a document can show image files of this machine.',
  }),
  MEDIA_JOBS_RUN_IN: oneOf({
    words: ['worker', 'web'],
    default: 'worker',
    help: 'Processes that run media jobs with REDIS_URL: workers (npm run worker) or web processes. Without REDIS_URL, the web process runs them.',
  }),
}
