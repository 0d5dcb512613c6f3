import {
  GAIN_MAP_XMP_NAMESPACE,
  type Gains,
  gainsFromIso,
  gainsFromXmp,
  gainsToIso,
  gainsToXmp,
} from './gains.ts'

// Segments of a JPEG, by the second byte of their marker.
const APP1 = 0xe1
const APP2 = 0xe2
const SOS = 0xda

/** The name of the segment of EXIF. The header of the TIFF follows. */
export const EXIF = 'Exif\0\0'
const XMP = 'http://ns.adobe.com/xap/1.0/\0'
/** The name of segments by ISO 21496-1. */
export const ISO_GAIN_MAP_SEGMENT = 'urn:iso:std:iso:ts:21496:-1\0'
// The versions of the format. The image has these alone, the map has its gains too.
const ISO_OF_IMAGE = `${ISO_GAIN_MAP_SEGMENT}\0\0\0\0`

// A segment may have four bytes: 40 MB of them would take 3 GB and ten seconds. A profile of 16 MB has 255 segments.
const MOST_SEGMENTS = 1000

interface Segment {
  marker: number
  /** The bytes after the length. */
  data: Buffer
  /** Exclusive. */
  end: number
}

/** The gains that the JPEG of a gain map states, by ISO 21496-1 or in XMP. Undefined for any other JPEG. */
export function gainsIn(map: Buffer): Gains | undefined {
  const iso = segmentIn(map, APP2, ISO_GAIN_MAP_SEGMENT)
  return (iso && gainsFromIso(iso.subarray(ISO_GAIN_MAP_SEGMENT.length))) ?? gainsFromXmp(xmpIn(map))
}

/** The description of a JPEG in XMP; empty without one. */
export function xmpIn(jpeg: Buffer): string {
  return segmentIn(jpeg, APP1, XMP)?.toString('latin1', XMP.length) ?? ''
}

/** The bytes of the first segment with this name. */
function segmentIn(jpeg: Buffer, marker: number, name: string): Buffer | undefined {
  for (const segment of segmentsOf(jpeg))
    if (segment.marker === marker && startsWith(segment.data, name)) return segment.data
  return undefined
}

/**
 * Puts a JPEG and its gain map together. The gains are described twice: by ISO 21496-1, and in XMP for older readers.
 *
 * @see https://developer.android.com/media/platform/hdr-image-format
 */
export function jpegWithGainMap(image: Buffer, how: { map: Buffer; gains: Gains }): Buffer {
  const second = withGains(how)
  // EXIF has to be the first segment.
  const [first] = segmentsOf(image)
  const at = first?.marker === APP1 && startsWith(first.data, EXIF) ? first.end : 2
  const described = [
    segment(APP1, Buffer.from(`${XMP}${directory(second.length)}`, 'latin1')),
    segment(APP2, Buffer.from(ISO_OF_IMAGE, 'latin1')),
  ]
  const before = at + described.reduce((sum, { length }) => sum + length, 0)
  const whole = image.length + before - at + INDEX_BYTES
  const index = indexOf({ image: whole, map: second.length, offset: whole - (before + INDEX_ORIGIN) })
  return Buffer.concat([inserted(image, at, [...described, index]), second])
}

/** The JPEG of a gain map that states its gains. */
export function withGains({ map, gains }: { map: Buffer; gains: Gains }): Buffer {
  return inserted(map, 2, [
    segment(APP1, Buffer.from(`${XMP}${meta(gainsToXmp(gains))}`, 'latin1')),
    segment(APP2, Buffer.concat([Buffer.from(ISO_GAIN_MAP_SEGMENT, 'latin1'), gainsToIso(gains)])),
  ])
}

function startsWith(data: Buffer, start: string): boolean {
  return data.toString('latin1', 0, start.length) === start
}

/** The segments before the pixels. */
function* segmentsOf(jpeg: Buffer): Generator<Segment> {
  let start = 2
  for (let i = 0; i < MOST_SEGMENTS && start + 4 <= jpeg.length && jpeg[start] === 0xff; i += 1) {
    const marker = jpeg[start + 1] ?? SOS
    if (marker === SOS) break
    const end = start + 2 + jpeg.readUInt16BE(start + 2)
    yield { marker, data: jpeg.subarray(start + 4, end), end }
    start = end
  }
}

function segment(marker: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(data.length + 2, 2)
  return Buffer.concat([head, data])
}

function inserted(jpeg: Buffer, at: number, segments: readonly Buffer[]): Buffer {
  return Buffer.concat([jpeg.subarray(0, at), ...segments, jpeg.subarray(at)])
}

function directory(mapBytes: number): string {
  const item = (what: string) =>
    `<rdf:li rdf:parseType="Resource"><Container:Item Item:Mime="image/jpeg" ${what}/></rdf:li>`
  const items = `${item('Item:Semantic="Primary"')}${item(`Item:Semantic="GainMap" Item:Length="${mapBytes}"`)}`
  const spaces = [
    `xmlns:hdrgm="${GAIN_MAP_XMP_NAMESPACE}"`,
    'xmlns:Container="http://ns.google.com/photos/1.0/container/"',
    'xmlns:Item="http://ns.google.com/photos/1.0/container/item/"',
  ].join(' ')
  return meta(
    `<rdf:Description ${spaces} hdrgm:Version="1.0"><Container:Directory><rdf:Seq>${items}</rdf:Seq></Container:Directory></rdf:Description>`,
  )
}

function meta(description: string): string {
  return `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">${description}</rdf:RDF></x:xmpmeta>`
}

const INDEX_BYTES = 90
// Offsets in the index count from its byte order.
const INDEX_ORIGIN = 8
const PRIMARY_IMAGE = 0x00030000

/** The index of both images. @see CIPA DC-007, Multi-Picture Format */
function indexOf({ image, map, offset }: { image: number; map: number; offset: number }): Buffer {
  const words = [
    // Big endian, and the directory follows.
    ...[0x4d4d002a, 8],
    // Three tags with type and count: the version 0100, two images, and their entries at 50.
    ...[0x0003b000, 0x00070000, 0x00043031, 0x3030b001, 0x00040000, 0x00010000, 0x0002b002, 0x00070000],
    ...[0x00200000, 0x00320000],
  ]
  const data = Buffer.alloc(INDEX_BYTES - 4)
  data.write('MPF\0', 'latin1')
  for (const [i, word] of words.entries()) data.writeUInt32BE(word, 4 + 4 * i)
  const entries = 4 + 50
  for (const [i, word] of [PRIMARY_IMAGE, image, 0, 0, 0, map, offset, 0].entries())
    data.writeUInt32BE(word, entries + 4 * i)
  return segment(APP2, data)
}
