import { SIDE_MAX } from '../generated/limits.ts'
import { focusOf } from './focus.ts'
import { frameworkUrl } from './framework-url.ts'

/** The properties of `<Image>` and `<Picture>` of Astro that the service reads. Others become attributes of `<img>`. */
export interface AstroImage {
  /** A delivery URL, or an imported image of the project, which is delivered unchanged. */
  src: string | { src: string }
  width?: number | undefined
  height?: number | undefined
  format?: string | undefined
  /** From 1 to 100, or `low`, `mid`, `high`, `max`. */
  quality?: number | string | undefined
  fit?: string | undefined
  /** As `object-position` in CSS: `top`, `left bottom`, `30% 70%`. */
  position?: string | undefined
  /** A colour, with or without `#`. */
  background?: string | undefined
  widths?: number[] | undefined
  densities?: Array<number | `${number}x`> | undefined
  [attribute: string]: unknown
}

/** One width of a `srcset`. */
export interface AstroSrcSetValue<Image extends AstroImage> {
  transform: Image
  descriptor: string
  attributes: Record<string, string>
}

/** An external image service, as Astro calls it. */
export interface AstroImageService {
  getURL(image: AstroImage): string
  getSrcSet<Image extends AstroImage>(image: Image): Array<AstroSrcSetValue<Image>>
  getHTMLAttributes(image: AstroImage): Record<string, unknown>
}

const QUALITIES: Readonly<Record<string, number>> = { low: 25, mid: 50, high: 80, max: 100 }

/** Values of `fit` that have other names in Sluice. `none` crops neither side, and `scale-down` never enlarges. */
const FITS: Readonly<Record<string, string>> = { contain: 'inside', none: 'outside', 'scale-down': 'inside' }

/**
 * The image service for `image.service` in the configuration of Astro.
 *
 * @see https://docs.astro.build/en/reference/image-service-reference/
 */
const sluiceService: AstroImageService = {
  getURL({ src, width, height, format, quality, fit, position, background }) {
    if (typeof src !== 'string') return src.src
    return frameworkUrl(src, {
      w: rounded(width),
      // Without `fit`, the height reserves space in the page, but the image is not cropped.
      h: fit === undefined ? undefined : rounded(height),
      f: format,
      q: typeof quality === 'string' ? (QUALITIES[quality] ?? quality) : quality,
      fit: fit === undefined ? undefined : (FITS[fit] ?? fit),
      ...(fit === 'cover' ? focusOf(position) : {}),
      bg: background?.replace(/^#/, ''),
    })
  },
  getSrcSet(image) {
    const { width, height, format, widths = [], densities } = image
    const ratio = width && height ? height / width : undefined
    const attributes: Record<string, string> = format ? { type: `image/${format}` } : {}
    const sizes = densities
      ? densities.map((density) => ({
          w: (width ?? 0) * Number.parseFloat(`${density}`),
          descriptor: `${Number.parseFloat(`${density}`)}x`,
        }))
      : widths.map((w) => ({ w, descriptor: `${w}w` }))
    return sizes
      .map(({ w, descriptor }) => {
        const transform = { ...image, width: Math.round(w), height: ratio && Math.round(w * ratio) }
        return { transform, descriptor, attributes }
      })
      .filter(({ transform: { width, height = 0 } }) => width > 0 && Math.max(width, height) <= SIDE_MAX)
      .sort((one, other) => one.transform.width - other.transform.width)
  },
  getHTMLAttributes(image) {
    const { src, format, quality, fit, position, background, ...rest } = image
    const { widths, densities, formats, layout, priority, inferSize, ...attributes } = rest
    return { loading: 'lazy', decoding: 'async', ...attributes }
  },
}

export default sluiceService

function rounded(side: number | undefined): number | undefined {
  return side === undefined ? undefined : Math.round(side)
}
