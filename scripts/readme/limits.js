import { NAME_MAX_BYTES } from '../../src/core/files/file-name.ts'
import { SIDE_MAX } from '../../src/core/geometry/output-limit.ts'
import { bytes, constantOf, defaultOf, duration, maxSideOf, megapixels } from './constants.js'

/** A variable with its default: `UPLOAD_MAX_FILES` (100). */
const set = (name, unit = String) => `\`${name}\` (${unit(defaultOf(name))})`
const folder = (name) => constantOf('core/files/object-key.ts', name)
const svg = (name) => constantOf('engines/image/svg/limits.ts', name)
const form = (name) => constantOf('http/upload/form-fields.ts', name)
const stall = duration(constantOf('engines/ffmpeg/watchdog.ts', 'STALL_MS') / 1000)
const pixels = set('IMAGE_MAX_PIXELS', megapixels)

/** The rows of the table of docs/reference/limits.md. Numbers are those of the program. */
export function limits() {
  return [
    [
      'Upload',
      `${set('UPLOAD_MAX_BYTES', bytes)} per file, ${set('UPLOAD_MAX_FILES')} files per form, ${constantOf('http/upload/multipart.ts', 'FIELDS_MAX')} text fields of ${bytes(constantOf('http/upload/multipart.ts', 'FIELD_MAX_BYTES'))}; ${folder('FOLDER_MAX_SEGMENTS')} folders, ${folder('FOLDER_MAX_BYTES')} bytes`,
    ],
    [
      'Resumable upload',
      `\`UPLOAD_MAX_BYTES\` (\`Tus-Max-Size\`); it must be complete within ${set('RESUMABLE_UPLOAD_TTL_SECONDS', duration)}`,
    ],
    [
      'Direct upload',
      `\`UPLOAD_MAX_BYTES\`, with S3 at most 5 TiB; ${constantOf('adapters/bucket/s3/presigned/direct.ts', 'PARTS_MAX')} parts. It expires when no part has arrived for ${set('RESUMABLE_UPLOAD_TTL_SECONDS', duration)} and up to an hour more, and at the latest after this time and one second per megabyte`,
    ],
    [
      'Derivatives requested with an upload',
      `${form('TRANSFORMS_MAX')}, of ${form('QUERY_MAX_LENGTH')} characters each`,
    ],
    [
      'Image to transform',
      `${set('IMAGE_MAX_BYTES', bytes)}, ${pixels} over all frames, ${constantOf('engines/image/decompression-bombs.ts', 'MAX_FRAMES')} frames, ${set('TRANSFORM_TIMEOUT_SECONDS', duration)}; ${set('TRANSFORM_KILL_SECONDS', duration)} from or to AVIF, for SVG, TIFF and formats that libvips does not read`,
    ],
    [
      'Remote file',
      `\`UPLOAD_MAX_BYTES\`; \`IMAGE_MAX_BYTES\` when it is not stored. A URL of ${constantOf('core/net/remote-url.ts', 'MAX_LENGTH')} characters, ${constantOf('adapters/fetcher/guarded.ts', 'MAX_REDIRECTS')} redirects`,
    ],
    [
      'Video thumbnail',
      `${set('VIDEO_MAX_BYTES', bytes)}, ${pixels} per frame, ${set('TRANSFORM_TIMEOUT_SECONDS', duration)}`,
    ],
    [
      'Video or audio to transform',
      `${set('VIDEO_MAX_BYTES', bytes)} and ${pixels} per frame, ${set('MEDIA_TIMEOUT_SECONDS', duration)}, and ${stall} without progress`,
    ],
    [
      'Waiting and running media jobs of a client',
      `${set('MEDIA_JOBS_LIMIT')}, then 429 \`too_many_jobs\`. Callers without a secret get half of them, or three quarters by presets and signed URLs. One IP address gets a quarter: see [media jobs](../explanation/media-jobs.md)`,
    ],
    [
      'Office document to transform',
      `${set('IMAGE_MAX_BYTES', bytes)}, ${set('DOCUMENT_TIMEOUT_SECONDS', duration)}, \`MEDIA_MAX_MEMORY_BYTES\``,
    ],
    [
      'Text to transform',
      `the first ${bytes(constantOf('engines/image/excerpts/excerpt.ts', 'TEXT_BYTES'))}, of which ${constantOf('engines/image/documents/text-lines.ts', 'LINES')} lines of ${constantOf('engines/image/documents/text-lines.ts', 'COLUMNS')} columns are drawn`,
    ],
    ['Output', `${SIDE_MAX} px per side where a parameter enlarges it, ${pixels} over all frames`],
    [
      'SVG to transform',
      `${bytes(svg('MAX_BYTES'))}, ${svg('MAX_TAGS')} tags, ${svg('MAX_TEXT')} characters of text, ${bytes(svg('MAX_STYLE'))} of styles, ${svg('MAX_ESCAPES')} entities and escapes, ${constantOf('engines/image/svg/nesting.ts', 'MAX_LAYERS')} nested layers, ${svg('MAX_IMAGES')} embedded images with ${pixels} together; no SVG and no styles in \`data:\` URIs`,
    ],
    [
      '`w` and `h`, multiplied by `dpr`',
      `${SIDE_MAX} px. The limit also applies to a side that is not given`,
    ],
    [
      'Side of an image without `w` and `h`',
      `${maxSideOf('webp')} px as WebP, ${maxSideOf('avif')} as AVIF, ${maxSideOf('jpeg')} as JPEG, ${maxSideOf('gif')} as GIF. \`f=auto\` chooses a format that can hold it`,
    ],
    [
      'Waiting transformations',
      `${set('TRANSFORM_WAITING')}, of which ${set('TRANSFORM_WAITING_ADDRESS')} from one IP address, at most ${set('TRANSFORM_WAIT_SECONDS', duration)}, then 503: see [budgets](../explanation/budgets.md)`,
    ],
    [
      'Derivatives of a file',
      `${set('VARIANT_LIMIT')}, or its client's own limit. Then the least recently used one is evicted`,
    ],
    [
      'Bytes of derivatives',
      `${set('DERIVATIVES_MAX_BYTES', bytes)} per client, ${set('DERIVATIVES_MAX_TIMES')} times the size of a file, ${set('OUTPUT_MAX_BYTES', bytes)} each`,
    ],
    ['File names', `${NAME_MAX_BYTES} bytes. Longer ones are shortened before their extension`],
    [
      'JSON body',
      `${constantOf('http/body/json-limits.ts', 'VALUES_MAX')} values, ${constantOf('http/body/json-limits.ts', 'DEPTH_MAX')} levels deep`,
    ],
    [
      'Archive',
      `${constantOf('http/archive/request.ts', 'MAX_ITEMS')} files, ${constantOf('http/archive/request.ts', 'MAX_PARAMS')} parameters each, names of ${constantOf('core/files/archive-names.ts', 'MAX_BYTES')} bytes with ${NAME_MAX_BYTES} between slashes, ${set('ZIP_RATE_LIMIT')} in ${set('ZIP_RATE_WINDOW_SECONDS', duration)}, ${bytes(constantOf('http/archive/zip.ts', 'BODY_MAX_BYTES'))} of JSON`,
    ],
    [
      'Links to archives of a client',
      `${bytes(constantOf('service/archive/link-space.ts', 'MAX_BYTES'))} in a day, then 429 \`rate_limited\``,
    ],
    ['Query', `${constantOf('http/request.ts', 'MAX_PAIRS')} parameters`],
    [
      'Request line and headers',
      `${set('HEADERS_MAX_BYTES', bytes)}, within ${set('HEADERS_TIMEOUT_SECONDS', duration)}`,
    ],
    ['Request body', `${set('UPLOAD_MIN_BYTES_PER_SECOND')} bytes per second on average`],
  ]
}
