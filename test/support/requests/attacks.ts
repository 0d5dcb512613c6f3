import { constants, crc32, deflateRawSync, deflateSync } from 'node:zlib'
import sharp from 'sharp'

/** A PNG of these chunks. */
function png(...chunks: ReadonlyArray<readonly [type: string, data: Buffer]>): Buffer {
  const encoded = chunks.map(([type, data]) => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
    const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    check.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, check])
  })
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...encoded])
}

/** The first chunk: RGBA in 8 bits. */
function ihdr(width: number, height: number): readonly ['IHDR', Buffer] {
  const data = Buffer.from([...Buffer.alloc(8), 8, 6, 0, 0, 0])
  data.writeUInt32BE(width, 0)
  data.writeUInt32BE(height, 4)
  return ['IHDR', data]
}

const IEND = ['IEND', Buffer.alloc(0)] as const

/** A PNG whose header states this size, with hardly any data. */
export const boastingPng = (width: number, height: number) =>
  png(ihdr(width, height), ['IDAT', deflateSync(Buffer.alloc(9))], IEND)

/** Where the passes of an interlaced PNG begin, and the distance between their pixels. */
export const ADAM7 = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const

/** A whole PNG of transparent pixels. To encode 49 megapixels takes seconds; this repeats one compressed block. */
export function blankPng(width: number, height: number, { interlaced = false } = {}): Buffer {
  const passes = interlaced ? ADAM7 : ([[0, 0, 1, 1]] as const)
  let length = 0
  for (const [left, top, across, down] of passes)
    length += Math.ceil((height - top) / down) * (1 + 4 * Math.ceil((width - left) / across))
  const blockBytes = 1024 * 1024
  const block = deflateRawSync(Buffer.alloc(blockBytes), { finishFlush: constants.Z_FULL_FLUSH })
  const blocks = Array<Buffer>(Math.floor(length / blockBytes)).fill(block)
  // Adler-32 of zeros.
  const check = Buffer.from([0, 0, 0, 1])
  check.writeUInt16BE(length % 65_521)
  const rest = deflateRawSync(Buffer.alloc(length % blockBytes))
  const [type, header] = ihdr(width, height)
  header[12] = interlaced ? 1 : 0
  const data = Buffer.concat([Buffer.from('7801', 'hex'), ...blocks, rest, check])
  return png([type, header], ['IDAT', data], IEND)
}

/** A PNG of 8 x 8 pixels with compressed texts of 7.9 MB each: 19 of them in 146 kB cost libpng 1 GB. */
export function textBomb(texts: number, type: 'zTXt' | 'iTXt' = 'zTXt'): Buffer {
  const packed = deflateSync(Buffer.alloc(7_900_000, 65), { level: 9 })
  const marks = type === 'zTXt' ? '\0\0' : '\0\x01\0\0\0'
  const chunks = Array.from({ length: texts }, (_, i) => {
    return [type, Buffer.concat([Buffer.from(`k${i}${marks}`, 'latin1'), packed])] as const
  })
  return png(ihdr(8, 8), ...chunks, ['IDAT', deflateSync(Buffer.alloc((4 * 8 + 1) * 8))], IEND)
}

/** A GIF of frames of one pixel, 23 bytes each. */
export function manyFrames({
  width,
  height,
  frames,
}: {
  width: number
  height: number
  frames: number
}): Buffer {
  const screen = Buffer.alloc(7)
  screen.writeUInt16LE(width, 0)
  screen.writeUInt16LE(height, 2)
  screen[4] = 0x80
  const control = [0x21, 0xf9, 4, 0, 1, 0, 0, 0]
  const pixel = [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]
  const head = Buffer.concat([Buffer.from('GIF89a'), screen, Buffer.from([0, 0, 0, 255, 255, 255])])
  const rest = Array(frames).fill(Buffer.from([...control, ...pixel]))
  return Buffer.concat([head, ...rest, Buffer.from([0x3b])])
}

/** A TIFF of this many pages of one pixel: libtiff reads all of them to count them. */
export function manyPages(pages: number): Buffer {
  return tiff(
    Array.from({ length: pages }, () => [
      [256, 3, 1],
      [257, 3, 1],
      [258, 3, 8],
      [262, 3, 1],
      [273, 4, 8],
      [279, 4, 1],
    ]),
  )
}

/** A TIFF whose header states one strip with all its pixels. */
export function hugeStrip({
  width,
  height,
  compression,
}: {
  width: number
  height: number
  compression: number
}): Buffer {
  const tags = [
    [256, 4, width],
    [257, 4, height],
    [258, 3, 8],
    [259, 3, compression],
    [262, 3, 1],
    [273, 4, 8],
    [278, 4, height],
    [279, 4, 2 ** 32 - 1],
  ]
  return tiff([tags])
}

function tiff(directories: number[][][]): Buffer {
  const parts = [Buffer.from('II*\0\x08\0\0\0', 'latin1')]
  let at = 8
  for (const [i, tags] of directories.entries()) {
    const directory = Buffer.alloc(2 + 12 * tags.length + 4)
    directory.writeUInt16LE(tags.length)
    for (const [k, [tag = 0, type = 0, value = 0]] of tags.entries()) {
      const entry = 2 + 12 * k
      directory.writeUInt16LE(tag, entry)
      directory.writeUInt16LE(type, entry + 2)
      directory.writeUInt32LE(1, entry + 4)
      directory.writeUInt32LE(value, entry + 8)
    }
    at += directory.length
    directory.writeUInt32LE(i + 1 < directories.length ? at : 0, directory.length - 4)
    parts.push(directory)
  }
  return Buffer.concat(parts)
}

const svg = (inner: string, attributes = 'width="400" height="400"') =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}>${inner}</svg>`,
  )

/** Each group holds the one before it ten times: ten to the so-many-th rectangles. */
export function nestedUses(levels: number): Buffer {
  const groups = Array.from({ length: levels }, (_, i) => {
    const inner = i === 0 ? '<rect width="9" height="9"/>' : `<use xlink:href="#g${i - 1}"/>`.repeat(10)
    return `<g id="g${i}">${inner}</g>`
  })
  return svg(`<defs>${groups.join('')}</defs><use xlink:href="#g${levels - 1}"/>`)
}

/** Nested layers by reference: each `use` has its own filter around the next one. */
export function nestedLayers(levels: number): Buffer {
  const filter = '<filter id="f"><feGaussianBlur stdDeviation="30"/></filter>'
  const groups = Array.from({ length: levels }, (_, i) => {
    const inner =
      i === 0 ? '<rect width="3000" height="3000"/>' : `<use xlink:href="#g${i - 1}" filter="url(#f)"/>`
    return `<g id="g${i}">${inner}</g>`
  })
  return svg(
    `<defs>${filter}${groups.join('')}</defs><use xlink:href="#g${levels - 1}"/>`,
    'width="3000" height="3000"',
  )
}

/** Every element has a filter of the size of the image. */
export function manyFilters(elements: number): Buffer {
  const filter =
    '<filter id="f" x="0" y="0" width="1" height="1" filterUnits="objectBoundingBox"><feGaussianBlur stdDeviation="99"/><feMorphology operator="dilate" radius="50"/></filter>'
  return svg(
    `<defs>${filter}</defs>${'<rect width="3000" height="3000" filter="url(#f)"/>'.repeat(elements)}`,
    'width="3000" height="3000"',
  )
}

export function entityBomb(): Buffer {
  const entities = Array.from(
    { length: 10 },
    (_, i) => `<!ENTITY e${i} "${i === 0 ? 'ha' : `&e${i - 1};`.repeat(10)}">`,
  )
  return Buffer.from(
    `<?xml version="1.0"?><!DOCTYPE svg [${entities.join('')}]><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>&e9;</text></svg>`,
  )
}

export function externalEntity(url: string): Buffer {
  return Buffer.from(
    `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "${url}">]><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>&x;</text></svg>`,
  )
}

export function externalReferences(url: string): Buffer {
  return svg(
    `<image xlink:href="${url}" width="9" height="9"/><use xlink:href="${url}#a"/><style>@import url("${url}")</style>`,
  )
}

export function manyElements(count: number): Buffer {
  return svg('<g id="a"/>'.repeat(count))
}

/** An AVIF whose header states another size than its image has. */
export async function boastingAvif({ width, height }: { width: number; height: number }): Promise<Buffer> {
  const bytes = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#f00' } })
    .avif({ effort: 0 })
    .toBuffer()
  const at = bytes.indexOf('ispe')
  bytes.writeUInt32BE(width, at + 8)
  bytes.writeUInt32BE(height, at + 12)
  return bytes
}

/** A PNG of 8 x 8 pixels with so many empty chunks of a type behind its header, 12 bytes each. */
export function manyChunks(count: number, type = 'tEXt'): Buffer {
  const empty = png([type, Buffer.alloc(0)]).subarray(8)
  const plain = png(ihdr(8, 8), ['IDAT', deflateSync(Buffer.alloc((4 * 8 + 1) * 8))], IEND)
  const behindHeader = 8 + 25
  return Buffer.concat([
    plain.subarray(0, behindHeader),
    Buffer.alloc(12 * count, empty),
    plain.subarray(behindHeader),
  ])
}

/** A GIF of one pixel with a comment in so many blocks of one byte. */
export function manyBlocks(count: number): Buffer {
  const gif = manyFrames({ width: 1, height: 1, frames: 1 })
  const comment = Buffer.from([0x21, 0xfe])
  const rest = Buffer.from([0])
  return Buffer.concat([
    gif.subarray(0, 19),
    comment,
    Buffer.alloc(2 * count, Buffer.from([1, 0x61])),
    rest,
    gif.subarray(19),
  ])
}

/** A WebP with so many empty chunks that mean nothing, 8 bytes each. */
export function manyWebpChunks(webp: Buffer, count: number): Buffer {
  const junk = Buffer.alloc(8 * count, Buffer.from('4a554e4b00000000', 'hex'))
  const bytes = Buffer.concat([webp.subarray(0, 12), junk, webp.subarray(12)])
  bytes.writeUInt32LE(bytes.length - 8, 4)
  return bytes
}
