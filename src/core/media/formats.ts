import { FORMATS_BY_NAME, type FormatRow, FURTHER_FORMATS, ZIPS_BY_NAME } from './further-formats.ts'
import { MEDIA_GROUPS, type MediaGroup } from './groups.ts'

/** A file format, with its names in keys, URLs and headers. */
export interface Format {
  /** Short name, unique across all groups: `jpeg`. */
  name: string
  group: MediaGroup
  /** Registered with IANA, without parameters: `image/jpeg`. */
  mediaType: string
  /** The usual extension without the dot: `jpg`. It is unique, so that a file's name alone determines its key. */
  extension: string
}

// Name, media type, and the extension where it differs from the name. The group is the first segment of the key. It
// is the first part of the media type unless the last column names another.
const ROWS: readonly FormatRow[] = [
  ['png', 'image/png'],
  ['jpeg', 'image/jpeg', 'jpg'],
  ['webp', 'image/webp'],
  ['avif', 'image/avif'],
  ['gif', 'image/gif'],
  ['svg', 'image/svg+xml'],
  ['tiff', 'image/tiff', 'tif'],
  ['heic', 'image/heic'],
  ['bmp', 'image/bmp'],
  ['ico', 'image/vnd.microsoft.icon'],
  ['jxl', 'image/jxl'],
  ['jp2', 'image/jp2'],
  ['psd', 'image/vnd.adobe.photoshop'],
  ['mp4', 'video/mp4'],
  ['m4v', 'video/x-m4v'],
  ['webm', 'video/webm'],
  ['mov', 'video/quicktime'],
  ['avi', 'video/x-msvideo'],
  ['mkv', 'video/matroska'],
  ['mpeg', 'video/mpeg', 'mpg'],
  ['ogv', 'video/ogg'],
  ['3gp', 'video/3gpp'],
  ['flv', 'video/x-flv'],
  ['wmv', 'video/x-ms-wmv'],
  ['m2ts', 'video/mp2t'],
  ['mp3', 'audio/mpeg'],
  ['m4a', 'audio/mp4'],
  ['wav', 'audio/wav'],
  ['ogg', 'audio/ogg'],
  ['opus', 'audio/ogg'],
  ['flac', 'audio/flac'],
  ['aac', 'audio/aac'],
  ['aiff', 'audio/aiff', 'aif'],
  ['amr', 'audio/amr'],
  ['midi', 'audio/midi', 'mid'],
  ['txt', 'text/plain'],
  ['html', 'text/html'],
  ['css', 'text/css'],
  ['csv', 'text/csv'],
  ['markdown', 'text/markdown', 'md'],
  ['javascript', 'text/javascript', 'js'],
  ['calendar', 'text/calendar', 'ics'],
  ['vcard', 'text/vcard', 'vcf'],
  ['vtt', 'text/vtt'],
  ['tsv', 'text/tab-separated-values'],
  ['json', 'application/json'],
  ['m3u8', 'application/vnd.apple.mpegurl'],
  ['xml', 'application/xml'],
  ['pdf', 'application/pdf'],
  ['zip', 'application/zip'],
  ['gzip', 'application/gzip', 'gz'],
  ['tar', 'application/x-tar'],
  ['7z', 'application/x-7z-compressed'],
  ['rar', 'application/vnd.rar'],
  ['rtf', 'application/rtf'],
  ['wasm', 'application/wasm'],
  ['epub', 'application/epub+zip'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['pptx', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'],
  ['odt', 'application/vnd.oasis.opendocument.text'],
  ['ods', 'application/vnd.oasis.opendocument.spreadsheet'],
  ['odp', 'application/vnd.oasis.opendocument.presentation'],
  ['woff', 'font/woff', 'woff', 'application'],
  ['woff2', 'font/woff2', 'woff2', 'application'],
  ['ttf', 'font/ttf', 'ttf', 'application'],
  ['otf', 'font/otf', 'otf', 'application'],
  ...FURTHER_FORMATS,
  ...ZIPS_BY_NAME,
  ...FORMATS_BY_NAME,
  ['bin', 'application/octet-stream'],
]

/** All formats that the service distinguishes. The last one, `bin`, is for files of any other format. */
export const FORMATS: readonly Format[] = ROWS.map(([name, mediaType, extension, group]) => ({
  name,
  mediaType,
  extension: extension ?? name,
  group: group ?? (mediaType.slice(0, mediaType.indexOf('/')) as MediaGroup),
}))

const byName = new Map(FORMATS.map((format) => [format.name, format]))
const byExtension = new Map(FORMATS.map((format) => [format.extension, format]))

/** Whether the text is the name of a media group. */
export function isMediaGroup(text: string): text is MediaGroup {
  return (MEDIA_GROUPS as readonly string[]).includes(text)
}

// All frames of these formats are used. The pages of a TIFF are separate images.
const ANIMATED = new Set(['gif', 'webp'])
// Of these, most files are still images, and animations are not written.
const WITH_SEQUENCES = new Set(['avif', 'heic', 'jxl', 'png'])

/** Whether images of the format called `name` are read and written as animations. */
export function isAnimated(name: string): boolean {
  return ANIMATED.has(name)
}

/** Whether animations are written in the format called `name`. */
export function writesAnimation(name: string): boolean {
  return isAnimated(name) || name === 'avif'
}

/** Whether a file of the format called `name` may be an animation. */
export function mayBeAnimated(name: string): boolean {
  return isAnimated(name) || WITH_SEQUENCES.has(name)
}

// Archives of files. Other formats are ZIPs too, but their entries are of no use to people.
const ZIPS = new Set(['zip', ...ZIPS_BY_NAME.map(([name]) => name)])

/** Whether files of the format are ZIP archives. */
export function isZip({ name }: Format): boolean {
  return ZIPS.has(name)
}

// Documents of which a page or the cover is an image.
const DRAWN = new Set(['pdf', 'epub'])
// Of the group `application`.
const TEXTS = new Set(['json', 'xml', 'm3u8'])

/** Whether files of the format are text that people read, source code included. */
export function isText({ name, group }: Format): boolean {
  return group === 'text' || TEXTS.has(name)
}

// Read by LibreOffice.
const OFFICE = new Set(['docx', 'xlsx', 'pptx', 'odt', 'ods', 'odp', 'doc', 'xls', 'ppt', 'rtf'])

/** Whether files of the format are Office documents, which have to be converted to PDF before a page can be drawn. */
export function isOffice({ name }: Format): boolean {
  return OFFICE.has(name)
}

/** The group whose parameters transform files of a format: that of the format, or `image` for documents that are shown as images. */
export function transformedAs(format: Format): MediaGroup {
  return DRAWN.has(format.name) || isText(format) || isOffice(format) ? 'image' : format.group
}

/** The image formats that the service writes. */
export const IMAGE_OUTPUTS = ['jpeg', 'png', 'webp', 'avif', 'tiff', 'gif'] as const

/** Finds the format called `name` (`jpeg`, not `jpg`). */
export function formatNamed(name: string): Format | undefined {
  return byName.get(name)
}

/** Finds the format whose usual extension is `extension` (`jpg`, not `jpeg`). */
export function formatOfExtension(extension: string): Format | undefined {
  return byExtension.get(extension)
}

/** Returns the format of a media type, with or without parameters; `bin` for an unknown one. */
export function formatOfMediaType(mediaType: string): Format {
  const bare = mediaType.split(';', 1)[0]?.trim()
  return FORMATS.find((format) => format.mediaType === bare) ?? knownFormat('bin')
}

/** Returns the format called `name`, for names in the source code. @throws Error for an unknown name */
export function knownFormat(name: string): Format {
  const format = byName.get(name)
  if (!format) throw new Error(`no format is called ${name}`)
  return format
}

/** Whether a browser would run the file or render it as a document. */
export function isActiveContent(mediaType: string): boolean {
  return /^(image\/svg\+xml|text\/html|application\/xml|text\/xml|application\/xhtml\+xml)/.test(mediaType)
}

/**
 * Whether a file of this media type is delivered in a sandbox: active content, and scripts and styles, of which a page of the same
 * origin could make a worker.
 */
export function isSandboxed(mediaType: string): boolean {
  return (
    isActiveContent(mediaType) || /^(?:text|application)\/(?:javascript|ecmascript|css)\b/.test(mediaType)
  )
}

/**
 * Whether a browser may run a file of this media type when a user opens its URL. From the URL of the bucket, where
 * Sluice sends no headers, such a file is downloaded instead.
 */
export function isDownloadedFromBucket(mediaType: string): boolean {
  return (
    isActiveContent(mediaType) ||
    /^(?:text|application)\/(?:javascript|ecmascript|[\w.-]+\+xml)\b/.test(mediaType)
  )
}
