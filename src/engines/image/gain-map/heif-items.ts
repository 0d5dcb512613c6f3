import { type Box, boxesIn, contentOf, FULL, unlessCut } from '../decoders/boxes.ts'

/** The images and other items of a HEIF file, AVIF included. @see ISO/IEC 23008-12 and ISO/IEC 14496-12, section 8.11 */
export interface HeifItems {
  /** The content of the box `ftyp`. */
  brands: Buffer
  /** The identifier of the item that is shown. */
  primary: number
  items: HeifItem[]
  references: Reference[]
}

export interface HeifItem {
  /** Below 65536. */
  id: number
  /** `av01`, `hvc1`, `grid`, `tmap`, … */
  type: string
  isHidden: boolean
  /** The rest of its entry: its name, and the type of its content. */
  naming: Buffer
  properties: Property[]
  /** Its bytes. Undefined when the file does not have them. */
  data(): Buffer | undefined
}

export interface Property extends Box {
  isEssential: boolean
}

/** `dimg`: an image is derived from others, in this order. `auxl`: an image belongs to another. */
export interface Reference {
  type: string
  from: number
  to: number[]
}

/** Reads the items of a file, in linear time. Undefined for any other file, and for one with identifiers of 32 bits. */
export function readItems(file: Buffer): HeifItems | undefined {
  return unlessCut(() => itemsIn(file))
}

function itemsIn(file: Buffer): HeifItems | undefined {
  const boxes = boxesIn(file)
  const meta = boxesIn(contentOf(boxes, 'meta').subarray(FULL))
  const pitm = contentOf(meta, 'pitm')
  const iinf = contentOf(meta, 'iinf')
  if (pitm.length === 0 || pitm.readUInt8(0) !== 0 || iinf.length === 0) return undefined
  const properties = propertiesIn(boxesIn(contentOf(meta, 'iprp')))
  const extents = extentsIn(contentOf(meta, 'iloc'))
  const idat = contentOf(meta, 'idat')
  const items = new Map<number, HeifItem>()
  for (const { type: box, content } of boxesIn(iinf.subarray(FULL + (iinf.readUInt8(0) === 0 ? 2 : 4)))) {
    // Other versions have identifiers of 32 bits, or no type.
    if (box !== 'infe' || content.readUInt8(0) !== 2) continue
    const id = content.readUInt16BE(FULL)
    // An identifier in a million entries would be a million images.
    if (items.has(id)) continue
    const place = extents.get(id)
    items.set(id, {
      id,
      type: content.toString('latin1', FULL + 4, FULL + 8),
      isHidden: content.readUInt8(3) % 2 === 1,
      naming: content.subarray(FULL + 8),
      properties: properties.get(id) ?? [],
      data: () => place && joined(place.isInIdat ? idat : file, place.parts),
    })
  }
  return {
    brands: contentOf(boxes, 'ftyp'),
    primary: pitm.readUInt16BE(FULL),
    items: [...items.values()],
    references: referencesIn(contentOf(meta, 'iref')),
  }
}

interface Extents {
  isInIdat: boolean
  parts: Array<{ start: number; length: number }>
}

function extentsIn(iloc: Buffer): Map<number, Extents> {
  const version = iloc.readUInt8(0)
  const [offsetBytes, lengthBytes] = halves(iloc.readUInt8(FULL))
  const [baseBytes, indexBytes] = halves(iloc.readUInt8(FULL + 1))
  const numbers = reader(iloc, FULL + 2)
  const idBytes = version < 2 ? 2 : 4
  const found = new Map<number, Extents>()
  for (let left = numbers(idBytes); left > 0; left -= 1) {
    const id = numbers(idBytes)
    const method = version === 0 ? 0 : numbers(2) % 16
    const isElsewhere = numbers(2) !== 0
    const base = numbers(baseBytes)
    const count = numbers(2)
    // Entries without bytes would make a small box take any time.
    if (count > 1 && offsetBytes + lengthBytes === 0) return found
    const parts: Extents['parts'] = []
    for (let i = 0; i < count; i += 1) {
      if (version > 0) numbers(indexBytes)
      parts.push({ start: base + numbers(offsetBytes), length: numbers(lengthBytes) })
    }
    if (method <= 1 && !isElsewhere) found.set(id, { isInIdat: method === 1, parts })
  }
  return found
}

/** The bytes of an item; undefined when they are not in the file, or more than it has. */
function joined(from: Buffer, parts: Extents['parts']): Buffer | undefined {
  // A length of 0 reaches to the end.
  const whole = parts.map(({ start, length }) => ({
    start,
    end: length === 0 ? from.length : start + length,
  }))
  const bytes = whole.reduce((sum, { start, end }) => sum + end - start, 0)
  if (bytes > from.length || whole.some(({ start, end }) => start > end || end > from.length))
    return undefined
  return Buffer.concat(whole.map(({ start, end }) => from.subarray(start, end)))
}

function propertiesIn(iprp: readonly Box[]): Map<number, Property[]> {
  const all = boxesIn(contentOf(iprp, 'ipco'))
  const ipma = contentOf(iprp, 'ipma')
  const indexBytes = ipma.readUInt8(3) % 2 === 1 ? 2 : 1
  const essential = indexBytes === 2 ? 0x8000 : 0x80
  const numbers = reader(ipma, FULL)
  const found = new Map<number, Property[]>()
  for (let left = numbers(4); left > 0; left -= 1) {
    const id = numbers(ipma.readUInt8(0) === 0 ? 2 : 4)
    const properties: Property[] = []
    for (let count = numbers(1); count > 0; count -= 1) {
      const index = numbers(indexBytes)
      const box = all[(index % essential) - 1]
      if (box) properties.push({ ...box, isEssential: index >= essential })
    }
    found.set(id, properties)
  }
  return found
}

function referencesIn(iref: Buffer): Reference[] {
  if (iref.length === 0 || iref.readUInt8(0) !== 0) return []
  return boxesIn(iref.subarray(FULL)).map(({ type, content }) => {
    const numbers = reader(content, 0)
    const from = numbers(2)
    return { type, from, to: Array.from({ length: numbers(2) }, () => numbers(2)) }
  })
}

function halves(byte: number): [number, number] {
  return [byte >> 4, byte % 16]
}

/** Returns a function that reads the next unsigned number of so many bytes. It throws a RangeError at the end. */
function reader(from: Buffer, start: number): (bytes: number) => number {
  let at = start
  return (bytes) => {
    at += bytes
    if (bytes === 0) return 0
    return bytes === 8 ? Number(from.readBigUInt64BE(at - 8)) : from.readUIntBE(at - bytes, bytes)
  }
}
