/** RAW files of cameras, by the names of their formats. Each has a preview of the photo, a JPEG. */
export const RAW_FORMATS = ['dng', 'cr2', 'cr3', 'nef', 'arw', 'orf', 'rw2', 'raf', 'pef'] as const

/** Formats of photos that Sluice does not write, by their names: as PNG, a photo would be many times as large. */
export const PHOTO_FORMATS: ReadonlySet<string> = new Set([
  'heic',
  'jxl',
  'jp2',
  'j2c',
  'jpx',
  ...RAW_FORMATS,
])

const RAW: ReadonlySet<string> = new Set(RAW_FORMATS)

/** Whether files of the format called `name` are RAW files of cameras. */
export function isRaw(name: string): boolean {
  return RAW.has(name)
}
