import type { Sharp } from 'sharp'
import { IMAGE_OUTPUTS } from '../../src/core/media/formats.ts'
import { PHOTO_FORMATS } from '../../src/core/media/photos.ts'

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
  png: { effort: 6 },
  // Progressive files have 3 % fewer bytes, and take 1.75 times as long.
  jpeg: { progressive: 0, mozjpeg: 0 },
} as const satisfies Readonly<Record<string, Readonly<Record<string, number>>>>

const MOST = {
  webp: { effort: 6 },
  avif: { effort: 9 },
  png: { effort: 9 },
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

/** Sets the encoder of a draft. @param how.options of the plugin, checked */
export function encoded(
  image: Sharp,
  output: OutputFormat,
  {
    quality,
    lossless = false,
    options,
  }: { quality: number; lossless: boolean | undefined; options: Options },
): Sharp {
  switch (output) {
    case 'jpeg': {
      const { progressive, mozjpeg } = tuned('jpeg', options)
      if (mozjpeg) return opaque(image).jpeg({ quality, mozjpeg: true })
      // Table 3 of mozjpeg: 6 % fewer bytes than the table of the standard, in the same time, at a higher SSIM.
      return opaque(image).jpeg({ quality, progressive: progressive === 1, quantisationTable: 3 })
    }
    case 'png':
      return image.png({ compressionLevel: tuned('png', options).effort })
    case 'webp':
      return lossless ? image.webp({ lossless }) : image.webp({ quality, ...tuned('webp', options) })
    case 'avif':
      return image.avif({ ...(lossless ? { lossless } : { quality }), ...tuned('avif', options) })
    case 'tiff':
      if (lossless) return image.tiff({ compression: 'deflate', predictor: 'horizontal' })
      return opaque(image).tiff({ quality })
    case 'gif':
      return image.gif()
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
