import type { FileInformation, ListedFile } from '../../../../../../client/index.ts'

/** What a tag needs to know. `set`: a `srcset`, for pictures in several widths. */
interface Tag {
  url: string
  set?: string | undefined
  info: FileInformation | undefined
}

/** The HTML that shows a file. */
export function tagOf(file: ListedFile, { url, set, info }: Tag): string {
  const src = escaped(url)
  const name = escaped(file.originalName)
  // With both sides, nothing moves when the picture arrives.
  const size = info?.width && info.height ? ` width="${info.width}" height="${info.height}"` : ''
  switch (file.mimeType) {
    case 'image': {
      const sources = set
        ? `\n  srcset="${escaped(set).replaceAll(', ', ',\n    ')}"\n  sizes="100vw"\n `
        : ''
      return `<img src="${src}"${sources} alt=""${size} loading="lazy">`
    }
    case 'video':
      return `<video src="${src}"${size} controls preload="metadata"></video>`
    case 'audio':
      return `<audio src="${src}" controls preload="metadata"></audio>`
    default:
      return `<a href="${src}">${name}</a>`
  }
}

/** The Markdown that shows a file, or links to it. */
export function markdownOf({ mimeType, originalName }: ListedFile, url: string): string {
  const text = originalName.replace(/[[\]\\]/g, '\\$&')
  return `${mimeType === 'image' ? '!' : ''}[${text}](${url.replace(/[()\s]/g, encodeURIComponent)})`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}
