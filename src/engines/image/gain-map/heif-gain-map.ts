import { type Gains, gainsFromIso } from './gains.ts'
import { box, heifFile } from './heif-file.ts'
import { type HeifItem, type HeifItems, readItems } from './heif-items.ts'

/** The type of an item, and a brand: a tone-mapped image, which is derived from a base image and its gain map. */
export const TONE_MAPPED = 'tmap'
/** The first byte of the payload of a tone-mapped image: the version of its format. */
export const TONE_MAPPED_VERSION: Buffer = Buffer.of(0)

/**
 * Returns the gain map of an AVIF or HEIC as a file of its own, and its gains. Undefined without one, and for one that cannot be used: its
 * brand is missing, it is turned otherwise than the image, or the image itself is the HDR rendition.
 *
 * @see ISO/IEC 23008-12:2024, section 6.6.2.4
 */
export function gainMapIn(whole: Buffer): { bytes: Buffer; gains: Gains } | undefined {
  const file = readItems(whole)
  if (!file?.brands.includes(TONE_MAPPED, 0, 'latin1')) return undefined
  const { items, references, primary } = file
  const toneMapped = items.find(({ type }) => type === TONE_MAPPED)
  const inputs = references.find(({ type, from }) => type === 'dimg' && from === toneMapped?.id)?.to
  const payload = inputs?.length === 2 && inputs[0] === primary ? toneMapped?.data() : undefined
  const gains = payload?.[0] === 0 ? gainsFromIso(payload.subarray(TONE_MAPPED_VERSION.length)) : undefined
  const [image, map] = [primary, inputs?.[1]].map((id) => items.find((item) => item.id === id))
  if (!gains || gains.baseHeadroom > gains.alternateHeadroom || !image || !map) return undefined
  if (!turning(image).equals(turning(map))) return undefined
  const bytes = standalone(file, map, whole.length)
  return bytes && { bytes, gains }
}

/**
 * A file of one image of another file, and of the tiles from which that image is derived. Undefined when it has more bytes than the
 * other file.
 */
export function standalone(file: HeifItems, image: HeifItem, maxBytes: number): Buffer | undefined {
  const references = file.references.filter(({ type, from }) => type === 'dimg' && from === image.id)
  const tiles = new Set(references.flatMap(({ to }) => to))
  const items = file.items.filter(({ id }) => id === image.id || tiles.has(id))
  let bytes = 0
  for (const { data } of items) {
    bytes += data()?.length ?? 0
    if (bytes > maxBytes) return undefined
  }
  const shown = items.map((item) => ({
    ...item,
    isHidden: item.id !== image.id,
    // It belongs to no other image now.
    properties: item.properties.filter(({ type }) => type !== 'auxC'),
  }))
  return heifFile({ brands: file.brands, primary: image.id, items: shown, references })
}

/** How an image is turned and mirrored. */
function turning({ properties }: HeifItem): Buffer {
  const turns = properties.filter(({ type }) => type === 'irot' || type === 'imir')
  return Buffer.concat(turns.map(({ type, content }) => box(type, content)))
}
