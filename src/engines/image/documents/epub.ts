import { posix } from 'node:path'
import sharp from 'sharp'
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl'
import { sniff } from '../../../core/media/sniff/sniff.ts'
import { noCover } from '../../../core/transform-problems.ts'
import type { DecodedFile, Decoder } from '../decoders/decoder.ts'

// The list of files of a long book has 100 kB.
const MAX_XML_BYTES = 4_000_000
const MAX_COVER_BYTES = 50_000_000
// Browsers show these, and sharp reads them.
const PICTURES = new Set(['jpeg', 'png', 'gif', 'webp', 'svg'])

/** The cover of an e-book: the image that its list of files names as the cover. */
export const epub: Decoder = {
  library: 'Sluice',
  bytesPerPixel: 8,
  facts: () => undefined,
  decode: coverOf,

  async inspect(bytes) {
    const cover = await coverOf(bytes)
    const { width, height, hasAlpha } = await sharp(cover.bytes, { limitInputPixels: false }).metadata()
    return { width, height, hasAlpha }
  },
}

/** @throws Problem 422 for a book without a cover, Error for a broken file */
async function coverOf(bytes: Buffer): Promise<DecodedFile> {
  const zip = await fromBufferPromise(bytes, { lazyEntries: true })
  const entries = new Map<string, Entry>()
  for await (const entry of zip.eachEntry()) entries.set(entry.fileName, entry)
  const read = (name: string, maxBytes: number) => contentOf(zip, entries.get(name), maxBytes)
  const container = await read('META-INF/container.xml', MAX_XML_BYTES)
  const listPath = attributeOf(tagsIn(container, 'rootfile')[0], 'full-path')
  if (listPath === undefined) throw new Error('the e-book has no list of its files')
  const href = coverIn(await read(listPath, MAX_XML_BYTES))
  if (href === undefined) throw noCover()
  const name = posix.join(posix.dirname(listPath), decodeURIComponent(href))
  const picture = await read(name, MAX_COVER_BYTES)
  // An unsafe SVG could state another type.
  const { format } = await sniff(picture, '')
  if (!PICTURES.has(format.name)) throw new Error(`the cover of the e-book is ${format.name}`)
  return { bytes: picture, mediaType: format.mediaType }
}

async function contentOf(zip: ZipFile, entry: Entry | undefined, maxBytes: number): Promise<Buffer> {
  if (!entry) throw new Error('the e-book lacks one of its files')
  if (entry.uncompressedSize > maxBytes) throw new Error('a file of the e-book is too large')
  const parts: Buffer[] = []
  // yauzl stops at the stated size.
  for await (const part of await zip.openReadStreamPromise(entry)) parts.push(part)
  return Buffer.concat(parts)
}

/**
 * The address of the cover in an OPF document: EPUB 3 marks the image, EPUB 2 names its identifier.
 *
 * @see https://www.w3.org/TR/epub-33/#sec-cover-image
 */
function coverIn(opf: Buffer): string | undefined {
  const items = tagsIn(opf, 'item')
  const marked = items.find((item) =>
    /(?:^|\s)cover-image(?:\s|$)/.test(attributeOf(item, 'properties') ?? ''),
  )
  const meta = tagsIn(opf, 'meta').find((tag) => attributeOf(tag, 'name') === 'cover')
  const id = attributeOf(meta, 'content')
  const named = items.find((item) => id !== undefined && attributeOf(item, 'id') === id)
  return attributeOf(marked ?? named, 'href')
}

/** The start tags of elements of this name, with any prefix. */
function tagsIn(xml: Buffer, name: string): string[] {
  return xml.toString('utf8').match(new RegExp(`<(?:\\w+:)?${name}\\s[^>]*>`, 'g')) ?? []
}

function attributeOf(tag: string | undefined, name: string): string | undefined {
  const found = tag?.match(new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`))
  return (found?.[1] ?? found?.[2])?.replaceAll('&amp;', '&')
}
