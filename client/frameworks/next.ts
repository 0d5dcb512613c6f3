import { frameworkUrl } from './framework-url.ts'

/** What `next/image` passes to a loader. */
export interface ImageLoaderProps {
  /** The delivery URL of an image. */
  src: string
  /** The width in px that the browser may request. */
  width: number
  /** From 1 to 100. */
  quality?: number | undefined
}

/**
 * The loader of `next/image`, for `images.loaderFile`: the URL of an image in one width, in the best format that the browser accepts.
 *
 * @see https://nextjs.org/docs/app/api-reference/config/next-config-js/images
 */
export default function sluiceLoader({ src, width, quality }: ImageLoaderProps): string {
  return frameworkUrl(src, { w: width, q: quality })
}
