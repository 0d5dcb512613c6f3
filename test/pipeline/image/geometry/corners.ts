import sharp from 'sharp'

/** The corners of a picture, clockwise from the top left, two pixels from the edges: `r`, `g`, `b`, `w`, `-` for none. */
export async function corners(bytes: Uint8Array): Promise<string> {
  const { data, info } = await sharp(bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  const { width, height } = info
  const inset = Math.min(2, Math.floor((Math.min(width, height) - 1) / 2))
  return [
    [inset, inset],
    [width - 1 - inset, inset],
    [width - 1 - inset, height - 1 - inset],
    [inset, height - 1 - inset],
  ]
    .map(([x = 0, y = 0]) => {
      const at = (y * width + x) * 4
      const [r = 0, g = 0, b = 0, a = 0] = data.subarray(at, at + 4)
      if (a < 20) return '-'
      const key = [r, g, b].map((value) => (value > 200 ? 1 : value < 55 ? 0 : '?')).join('')
      return { '100': 'r', '010': 'g', '001': 'b', '111': 'w', '000': 'k' }[key] ?? '?'
    })
    .join('')
}

/** The share of pixels, from 0 to 1, that a test finds in a picture, of an animation in its first frame. */
export async function shareOf(
  bytes: Uint8Array,
  is: (r: number, g: number, b: number) => boolean,
): Promise<number> {
  const { data, info } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  const count = info.width * info.height
  let found = 0
  for (let i = 0; i < count; i += 1) {
    const [r = 0, g = 0, b = 0] = data.subarray(i * 3, i * 3 + 3)
    if (is(r, g, b)) found += 1
  }
  return found / count
}

export const isRed = (r: number, g: number, b: number): boolean => r > 200 && g < 100 && b < 100
