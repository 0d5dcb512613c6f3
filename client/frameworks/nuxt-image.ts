import type { TransformParameters } from '../delivery/parameters.ts'
import { focusOf } from './focus.ts'
import { type FrameworkParameters, frameworkUrl } from './framework-url.ts'

/** Options of the provider. */
export interface SluiceProviderOptions {
  /**
   * The delivery URL of a folder, for a relative `src`: `https://files.example/v1/image/upload/pub_…`. Not necessary when each `src` is
   * a whole URL.
   */
  baseURL?: string
  modifiers?: SluiceModifiers
}

/** Modifiers of Nuxt Image. Others are parameters of delivery URLs. */
export interface SluiceModifiers
  extends Omit<TransformParameters, 'width' | 'height' | 'format' | 'quality' | 'background' | 'fit'> {
  width?: number | string
  height?: number | string
  format?: string
  quality?: number | string
  /** A colour, with or without `#`. */
  background?: string
  fit?: string
  /** As `object-position` in CSS: `top`, `left bottom`, `30% 70%`. */
  position?: string
}

/** A provider, as Nuxt Image calls it. */
export interface SluiceProvider {
  getImage(src: string, options: SluiceProviderOptions): { url: string }
}

const PROVIDER: SluiceProvider = {
  getImage(src, { modifiers = {}, baseURL }) {
    const { width, height, format, quality, background, position, ...others } = modifiers
    const named: FrameworkParameters = { w: width, h: height, f: format, q: quality }
    const bg = background?.replace(/^#/, '')
    return { url: frameworkUrl(absolute(src, baseURL), { ...named, bg, ...focusOf(position), ...others }) }
  },
}

/**
 * The provider for Nuxt Image 2, for `image.providers` in the configuration of Nuxt.
 *
 * @see https://image.nuxt.com/advanced/custom-provider
 */
export default function sluiceProvider(): SluiceProvider {
  return PROVIDER
}

function absolute(src: string, baseUrl: string | undefined): string {
  if (baseUrl === undefined || /^(?:[a-z]+:)?\/\//.test(src)) return src
  return `${baseUrl.replace(/\/+$/, '')}/${src.replace(/^\/+/, '')}`
}
