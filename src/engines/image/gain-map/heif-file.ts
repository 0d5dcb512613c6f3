import type { HeifItem, HeifItems, Property } from './heif-items.ts'

/** An image file with these items, or undefined when an item has no bytes or there are too many properties. */
export function heifFile(
  { brands, primary, items, references }: HeifItems,
  options: { alternatives?: readonly number[] } = {},
): Buffer | undefined {
  const parts: Array<{ id: number; data: Buffer }> = []
  for (const { id, data } of items) {
    const bytes = data()
    if (!bytes) return undefined
    parts.push({ id, data: bytes })
  }
  // Readers require identifiers in ascending order.
  const sorted = items.toSorted((one, other) => one.id - other.id)
  const { boxes: ipco, indexesOf } = sharedProperties(items)
  if (ipco.length > MOST_PROPERTIES) return undefined
  const after = [
    full('iinf', 0, u16(items.length), ...sorted.map(entryOf)),
    ...(references.length === 0
      ? []
      : [
          full(
            'iref',
            0,
            ...references.map(({ type, from, to }) => box(type, u16(from), u16(to.length), ...to.map(u16))),
          ),
        ]),
    box(
      'iprp',
      box('ipco', ...ipco),
      full('ipma', 0, u32(items.length), ...sorted.map((item) => associated(item, indexesOf))),
    ),
    ...(options.alternatives ? [groupOf(options.alternatives, items)] : []),
  ]
  const ftyp = box('ftyp', brands)
  const metaAt = (start: number) => {
    let at = start
    const places = parts.map(({ id, data }) => {
      at += data.length
      return Buffer.concat([u16(id), u16(0), u16(1), u32(at - data.length), u32(data.length)])
    })
    const iloc = full('iloc', 0, Buffer.of(OFFSET_AND_LENGTH, 0), u16(parts.length), ...places)
    return full('meta', 0, PICTURES, full('pitm', 0, u16(primary)), iloc, ...after)
  }
  // Offsets have the same length, whatever their values.
  const start = ftyp.length + metaAt(0).length + BOX_HEAD
  return Buffer.concat([ftyp, metaAt(start), box('mdat', ...parts.map(({ data }) => data))])
}

/** A box of the ISO base media file format. */
export function box(type: string, ...content: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(BOX_HEAD)
  head.writeUInt32BE(content.reduce((sum, { length }) => sum + length, BOX_HEAD))
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, ...content])
}

const BOX_HEAD = 8
// An index has seven bits; 0 is none.
const MOST_PROPERTIES = 127
// Each has four bytes.
const OFFSET_AND_LENGTH = 0x44
const PICTURES = full('hdlr', 0, u32(0), Buffer.from('pict'), Buffer.alloc(13))

function full(type: string, flags: number, ...content: readonly Buffer[]): Buffer {
  return box(type, u32(flags), ...content)
}

function entryOf({ id, type, isHidden, naming }: HeifItem): Buffer {
  const versioned = u32(0x02000000 + (isHidden ? 1 : 0))
  return box('infe', versioned, u16(id), u16(0), Buffer.from(type, 'latin1'), naming)
}

/** Each property once: items share them. */
function sharedProperties(items: readonly HeifItem[]): {
  boxes: Buffer[]
  indexesOf: (item: HeifItem) => number[]
} {
  const places = new Map<string, number>()
  // Thousands of items may refer to the same megabytes.
  const known = new Map<Buffer, number>()
  const boxes: Buffer[] = []
  const indexOf = ({ type, content }: Property) => {
    const before = known.get(content)
    if (before !== undefined) return before
    const name = `${type}${content.toString('latin1')}`
    const index = places.get(name) ?? boxes.push(box(type, content))
    places.set(name, index)
    known.set(content, index)
    return index
  }
  const all = new Map(items.map(({ id, properties }) => [id, properties.map(indexOf)]))
  return { boxes, indexesOf: ({ id }) => all.get(id) ?? [] }
}

function associated(item: HeifItem, indexesOf: (item: HeifItem) => number[]): Buffer {
  const indexes = indexesOf(item).map((index, i) => (item.properties[i]?.isEssential ? 0x80 : 0) + index)
  return Buffer.concat([u16(item.id), Buffer.of(indexes.length, ...indexes)])
}

/** A group of images of which a reader takes the first that it can show. */
function groupOf(ids: readonly number[], items: readonly HeifItem[]): Buffer {
  // Identifiers of groups differ from those of items.
  const group = Math.max(...items.map(({ id }) => id)) + 1
  return box('grpl', full('altr', 0, u32(group), u32(ids.length), ...ids.map(u32)))
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
