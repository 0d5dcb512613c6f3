import { fileTypeFromBuffer } from 'file-type'
import { type Format, formatNamed, formatOfExtension, knownFormat } from './media.ts'

/** How many of a file's first bytes {@link sniff} wants to see: enough for every signature file-type knows. */
export const SNIFF_BYTES = 4100

/** What a file is, by its bytes. */
export interface SniffedType {
  format: Format
  /** `format.mediaType`, with `; charset=utf-8` for text that is UTF-8. */
  mediaType: string
}

// file-type's extensions where ours differ.
const RENAMED: Readonly<Record<string, string>> = {
  apng: 'png',
  mpg: 'mpeg',
  mts: 'm2ts',
  heif: 'heic',
  oga: 'ogg',
  asf: 'wmv',
}

// Formats that are text and have no signature: here, and only here, the file's name decides.
const TEXT_FORMATS = new Set([
  'txt',
  'html',
  'css',
  'csv',
  'markdown',
  'javascript',
  'calendar',
  'vcard',
  'vtt',
  'tsv',
  'json',
  'xml',
])
const TEXT_EXTENSION_ALIASES: Readonly<Record<string, string>> = {
  htm: 'html',
  markdown: 'md',
  mjs: 'js',
  text: 'txt',
  log: 'txt',
}

/**
 * Tells a file's format from its first bytes, whatever its uploader claims. The name's extension decides only between
 * text formats, which have no signature: `notes.csv` full of HTML is HTML, `page.png` full of HTML as well.
 *
 * @param head at least the first {@link SNIFF_BYTES} of the file, or all of a shorter one. More may tell more: office documents
 *   may say at their end what they are, and text may stop being any
 */
export async function sniff(head: Uint8Array, fileName: string): Promise<SniffedType> {
  const text = decodeText(head)
  if (text !== undefined) {
    const markup = markupFormat(text.content)
    if (markup) return sniffed(markup, text.utf8)
  }
  const signature = await fileTypeFromBuffer(head).catch(() => undefined)
  if (signature) {
    const found = formatNamed(RENAMED[signature.ext] ?? signature.ext) ?? formatOfExtension(signature.ext)
    // Short signatures also match text: "BMI,age" looks like a bitmap, "The wide world" like a movie. No picture,
    // movie or sound is well-formed text.
    const chance = text?.utf8 && found && /^(image|video|audio)$/.test(found.group)
    if (found && !chance) return sniffed(found, text?.utf8 ?? false)
  }
  if (text === undefined) return sniffed(knownFormat('bin'), false)
  return sniffed(textFormat(fileName, head.length), text.utf8)
}

function sniffed(format: Format, utf8: boolean): SniffedType {
  const charset = utf8 && format.group === 'text' ? '; charset=utf-8' : ''
  return { format, mediaType: format.mediaType + charset }
}

function textFormat(fileName: string, size: number): Format {
  const extension = fileName.slice(fileName.lastIndexOf('.') + 1).toLowerCase()
  const format = formatOfExtension(TEXT_EXTENSION_ALIASES[extension] ?? extension)
  if (format && TEXT_FORMATS.has(format.name)) return format
  return knownFormat(size === 0 ? 'bin' : 'txt')
}

/** The head as text, or undefined when it holds bytes that text does not: C0 controls other than white space. */
function decodeText(head: Uint8Array): { content: string; utf8: boolean } | undefined {
  if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)) {
    const encoding = head[0] === 0xff ? 'utf-16le' : 'utf-16be'
    return { content: new TextDecoder(encoding).decode(head), utf8: false }
  }
  for (const byte of head) {
    if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0c && byte !== 0x0d && byte !== 0x1b)
      return undefined
  }
  try {
    // `stream` forgives a character that the end of the head cuts in two.
    const stream = head.length >= SNIFF_BYTES
    return { content: new TextDecoder('utf-8', { fatal: true }).decode(head, { stream }), utf8: true }
  } catch {
    return { content: new TextDecoder('latin1').decode(head), utf8: false }
  }
}

/**
 * SVG or HTML by the first element, past the byte order mark (white space to JavaScript), XML declaration, comments and
 * document type.
 */
function markupFormat(content: string): Format | undefined {
  let rest = content.trimStart()
  for (;;) {
    const end = rest.startsWith('<!--')
      ? closing(rest, '-->')
      : rest.startsWith('<?')
        ? closing(rest, '?>')
        : -1
    if (end === -1) break
    rest = rest.slice(end).trimStart()
  }
  if (/^<!doctype\s+svg[\s[>]/i.test(rest) || /^<(?:\w+:)?svg[\s>/]/.test(rest)) return knownFormat('svg')
  if (/^<!doctype\s+html[\s>]/i.test(rest) || /^<(html|head|body|script|iframe)[\s>/]/i.test(rest))
    return knownFormat('html')
  return undefined
}

function closing(text: string, mark: string): number {
  const at = text.indexOf(mark)
  return at === -1 ? -1 : at + mark.length
}
