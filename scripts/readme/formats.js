import { usualFormat } from '../../plugins/image/output/encoders.mts'
import { FORMATS } from '../../src/core/media/formats.ts'
import { FORMATS_BY_NAME, ZIPS_BY_NAME } from '../../src/core/media/further-formats.ts'
import { demuxerOf } from '../../src/engines/ffmpeg/input.ts'
import { imageReaderOf } from '../../src/engines/image/readers.ts'

/** The headings of {@link formats}. */
export const FORMAT_HEADINGS = [
  ...['Format', 'Group', 'Media type', 'Extension', 'Recognised by'],
  ...['In browsers', 'Transformed by', 'Default output'],
]

// Shown or played by the current Chrome, Firefox and Safari. A video or sound also needs codecs that they have.
const IN_BROWSERS = new Set([
  ...['png', 'jpeg', 'webp', 'avif', 'gif', 'svg', 'bmp', 'ico'],
  ...['mp4', 'm4v', 'webm', 'mp3', 'm4a', 'wav', 'ogg', 'opus', 'flac', 'aac'],
  ...['txt', 'html', 'css', 'javascript', 'json', 'xml', 'pdf', 'woff', 'woff2', 'ttf', 'otf', 'wasm'],
])

/**
 * The rows of the table of docs/reference/formats.md.
 *
 * @param usual the default output of the plugins for video and audio
 */
export function formats(usual) {
  const byName = new Set([...FORMATS_BY_NAME, ...ZIPS_BY_NAME].map(([name]) => name))
  return FORMATS.map((format) => {
    const { name, group, mediaType, extension } = format
    const imageReader = imageReaderOf(format)
    const reader = imageReader ?? (demuxerOf(format) && 'ffmpeg')
    const output = imageReader ? usualFormat(name) : usual[group]
    return [
      `\`${name}\``,
      `\`${group}\``,
      `\`${mediaType}\``,
      `\`.${extension}\``,
      byName.has(name) ? 'name' : '',
      IN_BROWSERS.has(name) ? 'yes' : '',
      reader ?? '',
      reader ? `\`${output}\`` : '',
    ]
  })
}
