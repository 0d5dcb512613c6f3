import { boxesIn, contentOf } from '../../../src/engines/image/decoders/boxes.ts'

/**
 * A HEIC of many tiles, as phones write it: each shows the image of the same HEIC, and is decoded by itself.
 *
 * @param tile a HEIC of one image of this side, without metadata, as `heif-enc` writes it
 */
export function largeHeic(
  tile: Buffer,
  { side, columns, rows }: Record<'side' | 'columns' | 'rows', number>,
) {
  const boxes = boxesIn(tile)
  const meta = boxesIn(contentOf(boxes, 'meta').subarray(4))
  const properties = boxesIn(contentOf(boxesIn(contentOf(meta, 'iprp')), 'ipco'))
  const data = contentOf(boxes, 'mdat')
  const [width, height] = [columns * side, rows * side]
  // Items of their own with the same bytes: libheif refuses two references to one item.
  const tiles = Array.from({ length: columns * rows }, (_, i) => i + 1)
  const gridId = tiles.length + 1
  const grid = Buffer.concat([Buffer.from([0, 0, rows - 1, columns - 1]), words(16, width, height)])
  const item = (id: number, type: string) => full('infe', 2, words(16, id, 0), Buffer.from(`${type}\0`))
  const metaAt = (pixelsAt: number) =>
    full(
      'meta',
      0,
      full('hdlr', 0, words(32, 0), Buffer.from('pict'), Buffer.alloc(13)),
      full('pitm', 0, words(16, gridId)),
      full('iinf', 0, words(16, gridId), ...tiles.map((id) => item(id, 'hvc1')), item(gridId, 'grid')),
      full('iref', 0, box('dimg', words(16, gridId, tiles.length, ...tiles))),
      box(
        'iprp',
        box(
          'ipco',
          ...['hvcC', 'ispe'].map((type) => box(type, contentOf(properties, type))),
          full('ispe', 0, words(32, width, height)),
        ),
        full('ipma', 0, words(32, gridId), ...tiles.map((id) => belongs(id, 1, 2)), belongs(gridId, 3)),
      ),
      full(
        'iloc',
        0,
        Buffer.from([0x44, 0]),
        words(16, gridId),
        ...tiles.map((id) => place(id, pixelsAt, data.length)),
        place(gridId, pixelsAt + data.length, grid.length),
      ),
    )
  const type = box('ftyp', Buffer.from('heic\0\0\0\0mif1heic'))
  const head = metaAt(0).length
  return Buffer.concat([type, metaAt(type.length + head + 8), box('mdat', data, grid)])
}

function words(bits: 16 | 32, ...values: number[]): Buffer {
  const bytes = Buffer.alloc((values.length * bits) / 8)
  for (const [i, value] of values.entries()) bytes.writeUIntBE(value, (i * bits) / 8, bits / 8)
  return bytes
}

function box(type: string, ...content: Buffer[]): Buffer {
  const all = Buffer.concat(content)
  return Buffer.concat([words(32, all.length + 8), Buffer.from(type), all])
}

function full(type: string, version: number, ...content: Buffer[]): Buffer {
  return box(type, Buffer.from([version, 0, 0, 0]), ...content)
}

/** The properties of an item, by their places from 1. */
function belongs(item: number, ...properties: number[]): Buffer {
  return Buffer.concat([words(16, item), Buffer.from([properties.length, ...properties])])
}

function place(item: number, at: number, length: number): Buffer {
  return Buffer.concat([words(16, item, 0, 1), words(32, at, length)])
}
