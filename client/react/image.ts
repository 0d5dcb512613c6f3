import {
  type ComponentPropsWithoutRef,
  type CSSProperties,
  createElement,
  forwardRef,
  useMemo,
  version,
} from 'react'
import { buildUrl, type DeliverySource } from '../delivery/build-url.ts'
import type { TransformParameters } from '../delivery/parameters.ts'
import { srcset, usualWidths, withWidth } from '../delivery/srcset.ts'
import { thumbHashToDataUrl } from '../delivery/thumb-hash.ts'
import { SIDE_MAX } from '../generated/limits.ts'

type Parameters = Omit<TransformParameters, 'w' | 'width'>

/** Properties of {@link SluiceImage}, in addition to those of `img`. */
export interface SluiceImageProps
  extends Omit<ComponentPropsWithoutRef<'img'>, 'src' | 'srcSet' | 'width' | 'height' | 'alt'> {
  /** A record of an upload, or its delivery URL. */
  src: DeliverySource
  /** What the image shows. Empty for a decoration. */
  alt: string
  /** In CSS pixels. With `height` it reserves the space of the image. */
  width?: number
  /** In CSS pixels. */
  height?: number
  /**
   * The width of the image in the page, such as `(max-width: 800px) 100vw, 800px`. Default: `width`, else the width of the
   * window.
   */
  sizes?: string
  /** The widths that a browser can choose from, in pixels. Default: 1, 2 and 3 times `width`, or eight widths from 320 to 3840. */
  widths?: readonly number[]
  /** Other parameters of the images. `f=auto` is the default format. */
  parameters?: Parameters
  /** `thumbHash` of file information: a blurred image while the browser loads. Default: that of a record with information. */
  thumbHash?: string | undefined
  /** Loads the image at once and first. For the largest image at the top of a page. */
  priority?: boolean
  /** The URL of a width, for signed delivery or another path. */
  urlOf?: (width: number) => string
}

/** An image in the width that a page needs, with a placeholder. Also a server component. */
export const SluiceImage = forwardRef<HTMLImageElement, SluiceImageProps>(function SluiceImage(
  { src, alt, width, height, sizes, widths, parameters = {}, thumbHash, priority, urlOf, style, ...others },
  ref,
) {
  const all = widths ?? usualWidths(sizes === undefined ? width : undefined)
  const hash = thumbHash ?? hashOf(src)
  const placeholder = useMemo(() => (hash === undefined ? undefined : placeholderOf(hash)), [hash])
  const middle = all[Math.floor((all.length - 1) / 2)] ?? SIDE_MAX
  return createElement('img', {
    // A lazy image needs its attributes before `src`, which starts the request.
    loading: priority ? 'eager' : 'lazy',
    decoding: 'async',
    ...(priority ? { [fetchPriorityName(version)]: 'high' } : {}),
    ...others,
    alt,
    width,
    height,
    sizes: sizes ?? (width === undefined ? '100vw' : `${width}px`),
    srcSet: urlOf ? all.map((w) => `${urlOf(w)} ${w}w`).join(', ') : srcset(src, all, parameters),
    src: urlOf ? urlOf(middle) : buildUrl(src, withWidth(middle, parameters)),
    style: { ...sizeStyle(width, height), ...placeholder, ...style },
    ref,
  })
})

/** The property for `fetchpriority`. React 18 does not know its name in camel case and warns about it, React 19 about the other one. */
export function fetchPriorityName(reactVersion: string): string {
  return Number.parseInt(reactVersion, 10) < 19 ? 'fetchpriority' : 'fetchPriority'
}

/** An image that is narrower than its `width` keeps its ratio. */
function sizeStyle(width: number | undefined, height: number | undefined): CSSProperties {
  return width === undefined || height === undefined ? {} : { maxWidth: '100%', height: 'auto' }
}

function hashOf(src: DeliverySource): string | undefined {
  if (typeof src === 'string') return undefined
  const { options } = src as { options?: { info?: { thumbHash?: string } } }
  return options?.info?.thumbHash
}

/** Undefined for a transparent image: the placeholder would stay visible behind it. */
function placeholderOf(hash: string): CSSProperties | undefined {
  try {
    const url = thumbHashToDataUrl(hash)
    const hasAlpha = (atob(hash).charCodeAt(2) & 0x80) !== 0
    return hasAlpha ? undefined : { background: `url(${url}) center / cover no-repeat` }
  } catch {
    // An invalid hash must not fail the page.
    return undefined
  }
}
