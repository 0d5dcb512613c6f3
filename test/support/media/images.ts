import sharp from 'sharp'

type Encoding = 'jpeg' | 'png' | 'webp' | 'avif' | 'gif' | 'tiff'

const known = new Map<string, Promise<Buffer>>()

/**
 * A picture whose four corners differ: red, green, blue, white, clockwise from the top left. So turning, flipping and
 * cutting it shows.
 */
export async function picture({
  width = 400,
  height = 300,
  format = 'png',
  orientation,
}: {
  width?: number
  height?: number
  format?: Encoding
  orientation?: number
} = {}): Promise<Buffer> {
  // Rendered once per test process, and copied for each test.
  const name = JSON.stringify([width, height, format, orientation])
  const bytes = known.get(name) ?? rendered({ width, height, format, orientation })
  known.set(name, bytes)
  return Buffer.from(await bytes)
}

async function rendered({
  width,
  height,
  format,
  orientation,
}: {
  width: number
  height: number
  format: Encoding
  orientation: number | undefined
}): Promise<Buffer> {
  const half = { width: Math.ceil(width / 2), height: Math.ceil(height / 2) }
  const quarter = (background: string, left: number, top: number) => ({
    input: { create: { ...half, channels: 3 as const, background } },
    left,
    top,
  })
  const image = sharp({ create: { width, height, channels: 3, background: '#ff0000' } }).composite([
    quarter('#00ff00', width - half.width, 0),
    quarter('#0000ff', width - half.width, height - half.height),
    quarter('#ffffff', 0, height - half.height),
  ])
  if (orientation !== undefined) image.withMetadata({ orientation })
  return image.toFormat(format).toBuffer()
}

/** A PNG with changed bytes in its pixel data. If only its end were missing, it would be rendered as truncated. */
export function corrupted(png: Buffer): Buffer {
  return Buffer.from(png).fill(0x55, Math.floor(png.length / 2), png.length - 20)
}

/** An animation of full frames, each of one colour. */
export async function animation({
  width = 40,
  height = 30,
  colours = ['#f00', '#0f0', '#00f'],
  format = 'gif' as 'gif' | 'webp',
} = {}) {
  const frames = await Promise.all(
    colours.map((background) =>
      sharp({ create: { width, height, channels: 4, background } })
        .png()
        .toBuffer(),
    ),
  )
  return sharp(frames, { join: { animated: true } })
    .toFormat(format)
    .toBuffer()
}

/** The colour of one pixel, 0 to 255 each. */
export async function colourAt(
  bytes: Uint8Array,
  x: number,
  y: number,
): Promise<{ r: number; g: number; b: number; a: number }> {
  const { data, info } = await sharp(bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  const at = (y * info.width + x) * 4
  const [r = 0, g = 0, b = 0, a = 0] = data.subarray(at, at + 4)
  return { r, g, b, a }
}

/** A photo as a camera writes it, taken at the opera of Sydney, and its EXIF block. */
export async function photograph({
  orientation = 1,
  format = 'jpeg' as 'jpeg' | 'webp' | 'png' | 'avif',
} = {}) {
  const image = sharp(await picture())
    .withExif({
      IFD0: { Make: 'Sluice', Model: 'Gate 1', Artist: 'Nobody', Orientation: String(orientation) },
      IFD2: {
        FNumber: '28/10',
        ExposureTime: '1/125',
        ISOSpeedRatings: '200',
        DateTimeOriginal: '2024:05:06 07:08:09',
      },
      IFD3: {
        GPSLatitudeRef: 'S',
        GPSLatitude: '33/1 51/1 244240/10000',
        GPSLongitudeRef: 'E',
        GPSLongitude: '151/1 12/1 550681/10000',
        GPSAltitudeRef: '0',
        GPSAltitude: '125/10',
      },
    })
    .toFormat(format)
  const bytes = await image.toBuffer()
  const { exif } = await sharp(bytes).metadata()
  if (!exif) throw new Error(`${format} has kept no EXIF`)
  return { bytes, exif }
}
