import { FULL } from '../decoders/boxes.ts'
import { type Gains, gainsToIso } from './gains.ts'
import { heifFile } from './heif-file.ts'
import { TONE_MAPPED, TONE_MAPPED_VERSION } from './heif-gain-map.ts'
import { type HeifItem, type Property, readItems } from './heif-items.ts'

const UNNAMED = Buffer.of(0)

/**
 * Adds a gain map to an AVIF. Undefined when the structure of one of them is unknown.
 *
 * @param options.map an AVIF of one image
 * @param options.isDisplayP3 the colours are those of Display P3 instead of sRGB
 */
export function avifWithGainMap(
  avif: Buffer,
  { map, gains, isDisplayP3 }: { map: Buffer; gains: Gains; isDisplayP3: boolean },
): Buffer | undefined {
  const [file, second] = [readItems(avif), readItems(map)]
  const image = file?.items.find(({ id }) => id === file.primary)
  const grey = second?.items.find(({ id }) => id === second.primary)
  if (!file || !image || !grey) return undefined
  const last = Math.max(...file.items.map(({ id }) => id))
  const [mapId, toneMappedId] = [last + 1, last + 2]
  const size = image.properties.filter(({ type }) => type === 'ispe' || type === 'pixi')
  const colours = colourBox(isDisplayP3 ? P3 : SRGB, PQ)
  const toneMapped: HeifItem = {
    id: toneMappedId,
    type: TONE_MAPPED,
    isHidden: false,
    naming: UNNAMED,
    properties: [...size.map((property) => ({ ...property, isEssential: false })), colours],
    data: () => Buffer.concat([TONE_MAPPED_VERSION, gainsToIso(gains)]),
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
      items: [toneMapped, { ...grey, id: mapId, isHidden: true, naming: UNNAMED, properties }, ...file.items],
      references: [...file.references, { type: 'dimg', from: toneMappedId, to: [file.primary, mapId] }],
    },
    { alternatives: [toneMappedId, file.primary] },
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
