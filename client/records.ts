/** A stored file, as uploads return it. */
export interface FileRecord {
  /** The name in the bucket: a random id and the usual extension of the format. */
  sourceName: string
  /** The delivery URL, without parameters. */
  src: string
  /** The URL of the stored object itself. */
  originalSrc: string
  /** The name of the uploaded file, without folders. */
  originalName: string
  /** The key of the original. All calls that take a path take it. */
  s3PathOriginal: string
  s3Path: string
  options: FileOptions
  /** In bytes. */
  size: number
  mimeType: MediaGroup
  /** The short name of the format: `jpeg`, `mp4`, … */
  format: string
}

/** The type in delivery URLs. */
export type MediaGroup = 'image' | 'video' | 'audio' | 'text' | 'application'

/** What an upload has requested in addition. */
export interface FileOptions {
  info?: FileInfo
  transforms?: Array<{ key: string; src: string; state: string }>
}

/** Information about an original: docs/reference/file-info.md. */
export interface FileInfo {
  sourceName: string
  originalName: string
  mimeType: MediaGroup
  format: string
  mediaType: string
  size: number
  sha256: string
  uploadedAt: string
  /** After rotation. */
  width?: number
  height?: number
  pages?: number
  hasAlpha?: boolean
  colorSpace?: string
  /** `#rrggbb`. */
  dominantColor?: string
  /** In base64: {@link thumbHashToDataUrl} takes it. */
  thumbHash?: string
  blurHash?: string
  exif?: Record<string, unknown>
  location?: { latitude: number; longitude: number; altitude?: number }
  truncated?: boolean
  container?: string
  /** In seconds. */
  duration?: number
  /** In bits per second. */
  bitrate?: number
  videoCodec?: string
  audioCodec?: string
  rotation?: number
  frameRate?: number
  channels?: number
  sampleRate?: number
  /** Why fields are missing. */
  problem?: { code: string; detail: string }
}

/** A file of a list. */
export interface ListedFile extends FileRecord {
  mediaType: string
  /** In hexadecimal. */
  sha256: string
  /** In ISO 8601, as all times. */
  uploadedAt: string
  tags: string[]
  metadata: Record<string, string>
  /** Only deleted files have it. */
  deletedAt?: string
  /** Until then the file can be restored. */
  deletedUntil?: string
}

/** A file with its derivatives. */
export interface DescribedFile extends ListedFile {
  derivatives: Array<{
    key: string
    src: string
    mediaType: string | null
    size: number | null
    state: 'stored' | 'pending'
  }>
}

/** A file: its record, or its path. Paths are those that uploads return, `[folder/]<sourceName>` or `s3PathOriginal`. */
export type FileRef = string | Pick<FileRecord, 's3PathOriginal'>

/** The path of a file. */
export function pathOf(file: FileRef): string {
  return typeof file === 'string' ? file : file.s3PathOriginal
}
