import { fileTypeFromBuffer } from 'file-type'
import { splitName } from '../../files/file-name.ts'
import { type Format, formatNamed, formatOfExtension, knownFormat } from '../formats.ts'
import { freeFormat, safeExtension } from '../free-extension.ts'
import { FORMATS_BY_NAME, ZIPS_BY_NAME } from '../further-formats.ts'
import { compoundFormat } from './compound.ts'
import { compressedFormat } from './compressed.ts'
import { id3End } from './id3.ts'
import { formatBySign } from './signatures.ts'
import { isTiff, rawFormat } from './tiff.ts'

/**
 * The number of a file's first bytes that {@link sniff} needs at least. `sniffDepth` returns it when more are needed.
 */
export const SNIFF_BYTES = 4100

/** The type of a file, detected from its bytes. */
export interface SniffedType {
  format: Format
  /** `format.mediaType`, with `; charset=utf-8` for text that is UTF-8. */
  mediaType: string
}

// file-type's extensions where our names differ.
const RENAMED: Readonly<Record<string, string>> = {
  apng: 'png',
  mpg: 'mpeg',
  mts: 'm2ts',
  heif: 'heic',
  oga: 'ogg',
  asf: 'wmv',
  Z: 'z',
  'tar.gz': 'gzip',
}

const AUDIO_BEHIND_ID3 = new Set(['flac', 'aac', 'wav', 'aiff', 'ape', 'wv', 'mp2'])
const NAMED_BINARIES = new Set(FORMATS_BY_NAME.map(([name]) => name))
const ZIP_NAMES = new Set(ZIPS_BY_NAME.map(([name]) => name))

// Text formats without a signature. Only here the file's name decides.
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
 * Detects a file's format from its first bytes, whatever the uploader claims. The extension of the name decides
 * between text formats, which have no signature. HTML is always recognised: `notes.csv` or `page.png` with HTML
 * inside is HTML.
 *
 * @param head at least the first {@link SNIFF_BYTES} of the file, or all of a shorter one. More bytes may give a
 *   better result: an office document may declare its type near its end, and text may turn out to be binary
 */
export async function sniff(head: Uint8Array, fileName: string): Promise<SniffedType> {
  const text = decodeText(head)
  if (text !== undefined) {
    const markup = markupFormat(text.content)
    if (markup) return sniffed(markup, text.utf8)
  }
  const tagEnd = id3End(head)
  if (tagEnd !== undefined) return sniffed(await audioBehindTag(head.subarray(tagEnd), fileName), false)
  const found = await formatBySignature(head, fileName)
  if (found) {
    // Short signatures also match text: "BMI,age" looks like a bitmap, "The wide world" like a video. No image, video
    // or audio file is well-formed text.
    const chance = text?.utf8 && /^(image|video|audio)$/.test(found.group)
    if (!chance) return sniffed(found, text?.utf8 ?? false)
  }
  if (text === undefined) return sniffed(unknownFormat(fileName), false)
  return sniffed(textFormat(fileName, head.length), text.utf8)
}

async function formatBySignature(head: Uint8Array, fileName: string): Promise<Format | undefined> {
  // file-type fails on a TIFF whose directory is behind the head, and finds RAW files among TIFFs by one tag.
  if (isTiff(head)) return knownFormat(rawFormat(head) ?? 'tiff')
  const signature = await fileTypeFromBuffer(head).catch(() => undefined)
  if (!signature) return formatBySign(head)
  if (signature.ext === 'cfb') return compoundFormat(head, extensionOf(fileName))
  if (signature.ext === 'gz') return compressedFormat(head, (start) => markupFormat(start))
  // The first four bytes of a TGA may equal those of a cursor.
  if (signature.ext === 'cur' && extensionOf(fileName) === 'tga') return knownFormat('tga')
  // Other files than sound have the same container: file-type calls all of them AIFF.
  if (signature.ext === 'aif' && !isAiff(head)) return formatBySign(head)
  if (signature.ext === 'zip') return namedFormat(fileName, ZIP_NAMES) ?? knownFormat('zip')
  if (signature.mime.startsWith('audio/') && signature.ext === 'asf') return knownFormat('wma')
  return formatNamed(RENAMED[signature.ext] ?? signature.ext) ?? formatOfExtension(signature.ext)
}

function isAiff(head: Uint8Array): boolean {
  return /^AIF[FC]$/.test(Buffer.from(head.subarray(8, 12)).toString('latin1'))
}

/** @param content the bytes after an ID3 tag; empty when the tag is larger than the head */
async function audioBehindTag(content: Uint8Array, fileName: string): Promise<Format> {
  const found = content.length > 0 ? await formatBySignature(content, fileName) : undefined
  if (found?.group === 'audio') return found
  return (content.length === 0 && namedFormat(fileName, AUDIO_BEHIND_ID3)) || knownFormat('mp3')
}

function extensionOf(fileName: string): string {
  return fileName.slice(fileName.lastIndexOf('.') + 1).toLowerCase()
}

/** Returns the format of a file without a known signature: by its name, as far as the bytes do not contradict it. */
function unknownFormat(fileName: string): Format {
  const extension = safeExtension(splitName(fileName).ending.slice(1).toLowerCase())
  return (
    namedFormat(fileName, NAMED_BINARIES) ??
    (extension === undefined ? knownFormat('bin') : freeFormat(extension))
  )
}

/** Returns the format of the name's extension, if it is one of `names`. */
function namedFormat(fileName: string, names: ReadonlySet<string>): Format | undefined {
  const format = formatOfExtension(extensionOf(fileName))
  return format && names.has(format.name) ? format : undefined
}

function sniffed(format: Format, utf8: boolean): SniffedType {
  const charset = utf8 && format.group === 'text' ? '; charset=utf-8' : ''
  return { format, mediaType: format.mediaType + charset }
}

function textFormat(fileName: string, size: number): Format {
  const extension = extensionOf(fileName)
  const format = formatOfExtension(TEXT_EXTENSION_ALIASES[extension] ?? extension)
  if (format && TEXT_FORMATS.has(format.name)) return format
  return knownFormat(size === 0 ? 'bin' : 'txt')
}

/**
 * Decodes the head as text; undefined when it has bytes that text does not have: C0 controls other than white space.
 */
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
    // `stream` accepts a character that the end of the head cuts in two.
    const stream = head.length >= SNIFF_BYTES
    return { content: new TextDecoder('utf-8', { fatal: true }).decode(head, { stream }), utf8: true }
  } catch {
    return { content: new TextDecoder('latin1').decode(head), utf8: false }
  }
}

/**
 * Detects SVG or HTML by the first element, after the byte order mark (white space in JavaScript), XML declaration,
 * comments and document type.
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
