import sharp, { type Sharp } from 'sharp'

/**
 * A photo as phones store it, 400 x 200: a JPEG with a gain map in a quarter of its size, described in XMP alone. The upper left
 * quarter of the image is red, and bright in the map.
 *
 * @param options.orientation in EXIF. The stored pixels are the same for each
 * @param options.prepare adds metadata to the image
 */
export async function photoWithGainMap({
  orientation = 1,
  prepare = (image: Sharp) => image,
} = {}): Promise<Buffer> {
  const quarter = (side: number, background: string, ground: string) =>
    sharp({ create: { width: 4 * side, height: 2 * side, channels: 3, background: ground } })
      .composite([
        { input: { create: { width: 2 * side, height: side, channels: 3, background } }, left: 0, top: 0 },
      ])
      .png()
      .toBuffer()
  const [image, map] = await Promise.all([quarter(100, '#f00000', '#808080'), quarter(25, '#fff', '#000')])
  const primary = await prepare(sharp(image).withMetadata({ orientation })).jpeg({ quality: 90 }).toBuffer()
  const grey = await sharp(map).toColourspace('b-w').jpeg({ quality: 90 }).toBuffer()
  const gains = [
    'hdrgm:GainMapMin="0" hdrgm:GainMapMax="2.5" hdrgm:Gamma="1" hdrgm:OffsetSDR="0.015625" hdrgm:OffsetHDR="0.015625"',
    'hdrgm:HDRCapacityMin="0" hdrgm:HDRCapacityMax="2.5" hdrgm:BaseRenditionIsHDR="False"',
  ].join(' ')
  const second = withXmp(grey, `<rdf:Description ${HDRGM} ${gains}/>`)
  const item = (what: string) =>
    `<rdf:li rdf:parseType="Resource"><Container:Item Item:Mime="image/jpeg" ${what}/></rdf:li>`
  const items = `${item('Item:Semantic="Primary"')}${item(`Item:Semantic="GainMap" Item:Length="${second.length}"`)}`
  const described = withXmp(
    primary,
    `<rdf:Description ${HDRGM} xmlns:Container="http://ns.google.com/photos/1.0/container/" xmlns:Item="http://ns.google.com/photos/1.0/container/item/"><Container:Directory><rdf:Seq>${items}</rdf:Seq></Container:Directory></rdf:Description>`,
  )
  return withIndex(described, second)
}

/** The images, with an index in the first one. @see CIPA DC-007 */
function withIndex(primary: Buffer, second: Buffer): Buffer {
  const segment = Buffer.alloc(90)
  segment.write('ffe20058' + '4d504600' + '4d4d002a00000008', 'hex')
  const at = segment.write(
    // Three tags: the version, the number of images, and the place of their entries.
    '0003' +
      'b000000700000004' +
      '30313030' +
      'b001000400000001' +
      '00000002' +
      'b002000700000020' +
      '00000032',
    16,
    'hex',
  )
  const [first, entry] = [16 + at + 4, 16 + at + 20]
  segment.writeUInt32BE(0x00030000, first)
  segment.writeUInt32BE(primary.length + segment.length, first + 4)
  segment.writeUInt32BE(second.length, entry + 4)
  // Offsets count from the byte order.
  const place = afterMetadata(primary)
  segment.writeUInt32BE(primary.length + segment.length - (place + 8), entry + 8)
  return Buffer.concat([primary.subarray(0, place), segment, primary.subarray(place), second])
}

/** The place after all segments of type APP1. */
function afterMetadata(jpeg: Buffer): number {
  let at = 2
  while (jpeg.readUInt16BE(at) === 0xffe1) at += 2 + jpeg.readUInt16BE(at + 2)
  return at
}

const HDRGM = 'xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0"'

function withXmp(jpeg: Buffer, description: string): Buffer {
  const text = `http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">${description}</rdf:RDF></x:xmpmeta>`
  const head = Buffer.from([0xff, 0xe1, 0, 0])
  head.writeUInt16BE(text.length + 2, 2)
  return Buffer.concat([jpeg.subarray(0, 2), head, Buffer.from(text, 'latin1'), jpeg.subarray(2)])
}
