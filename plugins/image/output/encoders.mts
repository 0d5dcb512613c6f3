import type { Sharp } from 'sharp'
import { IMAGE_OUTPUTS } from '../../../src/core/media/formats.ts'
import { PHOTO_FORMATS } from '../../../src/core/media/photos.ts'

export type OutputFormat = (typeof IMAGE_OUTPUTS)[number]

/**
 * The format of a source that can be written. Otherwise JPEG for formats of photos, and PNG for others (SVG), as it
 * preserves edges and transparency.
 */
export function usualFormat(source: string): OutputFormat {
  return IMAGE_OUTPUTS.find((format) => format === source) ?? (PHOTO_FORMATS.has(source) ? 'jpeg' : 'png')
}

type Options = Readonly<Record<string, unknown>>

/**
 * Options of the encoders with their defaults: the best points of docs/explanation/encoders.md. More effort takes more time
 * for fewer bytes.
 */
const DEFAULTS = {
  // Twice as fast as 4, for 4 % more bytes.
  webp: { effort: 2 },
  // An eighth of the time of 4, for 3 % more bytes.
  avif: { effort: 2 },
  // A palette where it looks the same.
  png: { effort: 6, palette: 1 },
  // Progressive files have 3 % fewer bytes, and take 1.75 times as long.
  jpeg: { progressive: 0, mozjpeg: 0 },
} as const satisfies Readonly<Record<string, Readonly<Record<string, number>>>>

const MOST = {
  webp: { effort: 6 },
  avif: { effort: 9 },
  png: { effort: 9, palette: 1 },
  jpeg: { progressive: 1, mozjpeg: 1 },
}

type Tuned = keyof typeof DEFAULTS

/**
 * Checks the option `encoders` of the chain: `{ "webp": { "effort": 4 }, "jpeg": { "progressive": 1 } }`.
 *
 * @throws Error that names the accepted values
 */
export function checkEncoders({ encoders = {} }: Options): void {
  const isRecord = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null
  const fits =
    isRecord(encoders) &&
    Object.entries(encoders).every(
      ([format, settings]) =>
        isRecord(settings) &&
        Object.entries(settings).every(([name, value]) => {
          const most = (MOST as Record<string, Record<string, number>>)[format]?.[name]
          return most !== undefined && Number.isInteger(value) && Number(value) >= 0 && Number(value) <= most
        }),
    )
  if (fits) return
  const expected = Object.entries(MOST)
    .map(
      ([format, settings]) =>
        `${format} (${Object.entries(settings)
          .map(([name, most]) => `${name} 0 to ${most}`)
          .join(', ')})`,
    )
    .join(', ')
  throw new Error(`expected ${expected} for its option encoders but received ${JSON.stringify(encoders)}`)
}

function tuned<F extends Tuned>(
  format: F,
  { encoders }: Options,
): Record<keyof (typeof DEFAULTS)[F], number> {
  return {
    ...DEFAULTS[format],
    ...(encoders as Partial<Record<Tuned, object>> | undefined)?.[format],
  } as never
}

// A drawing has a tenth fewer bytes with it than with the usual effort, a photo 3 % fewer.
const DRAWING_EFFORT = 4

function webpEffort(isDrawing: boolean, options: Options): number {
  const { effort } = tuned('webp', options)
  return isDrawing && effort === DEFAULTS.webp.effort ? DRAWING_EFFORT : effort
}

/** Whether PNGs may get a palette that was not requested. */
export function withPalettes(options: Options): boolean {
  return tuned('png', options).palette === 1
}

/** How {@link encoded} encodes. */
export interface Encoding {
  quality: number
  lossless?: boolean | undefined
  /** Colours in full resolution: their edges are sharp. */
  isDrawing?: boolean
  /** Of a PNG or GIF: the most colours of its palette, from 2 to 256. libpng rounds it up to 2, 4, 16 or 256. */
  colours?: number | undefined
  /** Of a PNG with a palette: the fewest colours with this quality, from 1 to 100. */
  paletteQuality?: number
  /** Of a PNG with a palette: mixes colours that the palette does not have from dots of others. */
  dither?: boolean
  /** Of a GIF: by how much a colour may differ from that of the frame before, and is then not written again. From 0 to 32. */
  frameError?: number
  /** Of a PNG: predicts each row from the one above. */
  filters?: boolean
  /** Of the plugin, checked. */
  options: Options
}

/** Sets the encoder of a draft. */
export function encoded(
  image: Sharp,
  output: OutputFormat,
  {
    quality,
    lossless = false,
    isDrawing = false,
    colours,
    paletteQuality = 100,
    dither = false,
    filters = false,
    frameError = 0,
    options,
  }: Encoding,
): Sharp {
  switch (output) {
    case 'jpeg': {
      const { progressive, mozjpeg } = tuned('jpeg', options)
      const chromaSubsampling = isDrawing ? '4:4:4' : '4:2:0'
      if (mozjpeg) return opaque(image).jpeg({ quality, chromaSubsampling, mozjpeg: true })
      // Table 3 of mozjpeg: 6 % fewer bytes than the table of the standard, in the same time, at a higher SSIM.
      return opaque(image).jpeg({
        quality,
        chromaSubsampling,
        progressive: progressive === 1,
        quantisationTable: 3,
      })
    }
    case 'png':
      return image.png({
        compressionLevel: tuned('png', options).effort,
        ...(colours === undefined
          ? { adaptiveFiltering: filters }
          : { palette: true, colours, quality: paletteQuality, dither: dither ? 1 : 0 }),
      })
    case 'webp':
      if (lossless) return image.webp({ lossless })
      return image.webp({ quality, smartSubsample: isDrawing, effort: webpEffort(isDrawing, options) })
    case 'avif':
      return image.avif({ ...(lossless ? { lossless } : { quality }), ...tuned('avif', options) })
    case 'tiff':
      if (lossless) return image.tiff({ compression: 'deflate', predictor: 'horizontal' })
      return opaque(image).tiff({ quality })
    case 'gif':
      return colours === undefined
        ? image.gif({ interFrameMaxError: frameError })
        : image.gif({ colours, dither: 0, interFrameMaxError: frameError })
  }
}

/**
 * JPEG, and TIFF with JPEG compression, have no transparency, so transparent parts become white. sharp flattens
 * before it resizes, whatever the order of calls. Parts that the resize leaves empty are white already, and only lose
 * their alpha.
 */
function opaque(image: Sharp): Sharp {
  return image.flatten({ background: '#fff' }).removeAlpha()
}
