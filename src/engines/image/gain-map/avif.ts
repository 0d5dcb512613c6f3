import { FULL } from '../decoders/boxes.ts'
import { type Gains, isoOf } from './gains.ts'
import { heifFile } from './heif-file.ts'
import { type HeifItem, type Property, readItems } from './heif-items.ts'
import { TONE_MAPPED, VERSION } from './single-image.ts'

const UNNAMED = Buffer.of(0)

/**
 * Adds a gain map to an AVIF. Undefined when the structure of one of them is unknown.
 *
 * @param options.map an AVIF of one image
 * @param options.isWide the colours are those of Display P3 instead of sRGB
 */
export function withMap(
  avif: Buffer,
  { map, gains, isWide }: { map: Buffer; gains: Gains; isWide: boolean },
): Buffer | undefined {
  const [file, second] = [readItems(avif), readItems(map)]
  const image = file?.items.find(({ id }) => id === file.primary)
  const grey = second?.items.find(({ id }) => id === second.primary)
  if (!file || !image || !grey) return undefined
  const last = Math.max(...file.items.map(({ id }) => id))
  const [mapId, sumId] = [last + 1, last + 2]
  const size = image.properties.filter(({ type }) => type === 'ispe' || type === 'pixi')
  const colours = colourBox(isWide ? P3 : SRGB, PQ)
  const sum: HeifItem = {
    id: sumId,
    type: TONE_MAPPED,
    isHidden: false,
    naming: UNNAMED,
    properties: [...size.map((property) => ({ ...property, isEssential: false })), colours],
    data: () => Buffer.concat([VERSION, isoOf(gains)]),
  }
  const others = grey.properties.filter(({ type }) => type !== 'colr')
  const properties = [...others, colourBox(UNSPECIFIED, UNSPECIFIED)]
  return heifFile(
    {
      brands: file.brands.includes(TONE_MAPPED, FULL, 'latin1')
        ? file.brands
        : Buffer.concat([file.brands, Buffer.from(TONE_MAPPED, 'latin1')]),
      primary: file.primary,
      // The gain map is small, and before the image it is there when the image is.
      items: [sum, { ...grey, id: mapId, isHidden: true, naming: UNNAMED, properties }, ...file.items],
      references: [...file.references, { type: 'dimg', from: sumId, to: [file.primary, mapId] }],
    },
    { alternatives: [sumId, file.primary] },
  )
}

// Of ITU-T H.273: primaries, transfer characteristics, and the matrix that encoders use.
const SRGB = 1
const UNSPECIFIED = 2
const P3 = 12
const PQ = 16
const BT601 = 6
const FULL_RANGE = 0x80

function colourBox(primaries: number, transfer: number): Property {
  const content = Buffer.concat([
    Buffer.from('nclx'),
    Buffer.of(0, primaries, 0, transfer, 0, BT601, FULL_RANGE),
  ])
  return { type: 'colr', content, isEssential: false }
}
