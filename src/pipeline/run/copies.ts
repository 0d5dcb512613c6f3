import type { Asset } from '../../core/bytes/asset.ts'
import {
  COPIES_FROM_PIXELS,
  COPY_SIDE,
  PROXY_SIDES,
  type ProxySide,
  type Reducible,
  scaleOfCopy,
  suffices,
} from '../../core/media/copies.ts'
import type { Forecast } from '../../core/plugin-api/forecast.ts'
import { Problem } from '../../core/problem.ts'
import type { Plan } from '../plan/plan.ts'
import type { WorkContext } from './run.ts'
import { createSharedPixels, type SharedPixels } from './shared-pixels.ts'

/** Renders from smaller copies of sources that are expensive to decode. */
export interface Copies {
  /**
   * Runs `render` with a copy if there is one and nothing is lost by it, otherwise with the source. A failure with a copy
   * is repeated with the source.
   *
   * @param tools.decode renders the pixels that several callers share
   */
  render(
    forecast: Forecast,
    tools: {
      context: WorkContext
      decode: (pixels: Plan) => Promise<Asset>
      render: (copy: Asset | undefined) => Promise<Asset>
    },
  ): Promise<Asset>
}

// With shrinking in the decoder, a megapixel takes 2 ms, otherwise 10 ms or more.
const SHARED_FROM_PIXELS = 12_000_000
// Red, green, blue and alpha.
const BYTES_PER_PIXEL = 4
// A proxy is compressed with loss, which outputs of at most half its size do not show: SSIM 0.996. At three quarters it is 0.99.
const LEAST_REDUCTION = 2
// For the next smaller proxy, which again is reduced to half its size or less.
const LEAST_REDUCTION_OF_COPY = 1.75
// A small proxy is not worth its bytes when the image is hardly larger.
const LARGEST_SCALE_OF_SMALL = 0.6

/** @param options.proxyFromPixels 0: no proxies are used or made. `pixels`: the plan that decodes the copy of a page into memory */
export function createCopies({
  proxyFromPixels,
  pixels,
  shared = createSharedPixels(),
}: {
  proxyFromPixels: number
  pixels: (page: number) => Plan
  shared?: SharedPixels
}): Copies {
  const fromPixels = proxyFromPixels || SHARED_FROM_PIXELS

  function isExpensive({ full: { width, height }, shrinksOnLoad }: Reducible): boolean {
    const from = shrinksOnLoad ? fromPixels : Math.min(fromPixels, COPIES_FROM_PIXELS)
    return width * height >= from
  }

  /** Whether an image may have this proxy. Small ones also spare work for images that are not expensive. */
  function mayHave(side: ProxySide, reducible: Reducible): boolean {
    if (side === COPY_SIDE) return isExpensive(reducible)
    const { width, height, isBound } = reducible.full
    const isLarge = width * height >= Math.min(fromPixels, COPIES_FROM_PIXELS)
    return !isBound && isLarge && scaleOfCopy(reducible.full, side) <= LARGEST_SCALE_OF_SMALL
  }

  return {
    async render({ reducible, source }, { context, decode, render }) {
      if (!reducible) return render(undefined)
      const { full, scale, page = 1, isSlow = false } = reducible
      const { signal, clientId, log } = context
      const proxies = proxyFromPixels > 0 ? context.proxies : undefined
      const asCopy = (asset: Asset): Asset => ({ ...asset, copyOf: full })
      const tried = async (copy: Asset) => {
        try {
          return await render(asCopy(copy))
        } catch (error) {
          if (signal.aborted || isAboutLoad(error)) throw error
          log.warn({ err: error }, 'a smaller copy of an image could not be used')
          return undefined
        }
      }
      const leastScale = scale * (proxies?.isForCopy ? LEAST_REDUCTION_OF_COPY : LEAST_REDUCTION)
      const useful = PROXY_SIDES.filter(
        (side) => mayHave(side, reducible) && suffices(scaleOfCopy(full, side), leastScale),
      )
      const [best] = useful
      const makeBest = () => {
        if (best !== undefined && best !== COPY_SIDE)
          void proxies?.make({ side: best, page }, { atOnce: false })
      }
      let isFound = false
      for (const side of useful) {
        const stored = await proxies?.find({ side, page })
        if (!stored) continue
        isFound = true
        const outcome = await tried(stored)
        if (!outcome) break
        if (side !== best) makeBest()
        return outcome
      }
      if (!isExpensive(reducible)) {
        const outcome = await render(undefined)
        if (!isFound) makeBest()
        return outcome
      }
      const fromShared = async (copy: Asset | undefined) => {
        const fromCopy = copy && (await tried(copy))
        const outcome = fromCopy ?? (await render(undefined))
        if (isFound) return outcome
        const made = proxies?.make({ side: COPY_SIDE, page }, { atOnce: fromCopy !== undefined })
        makeBest()
        // The pixels stay in memory until the proxy has been rendered from them.
        if (fromCopy && made) void shared.use(pixelsOfSource, () => made).catch(() => {})
        return outcome
      }
      const copyScale = scaleOfCopy(full)
      const bytes = full.width * full.height * copyScale ** 2 * BYTES_PER_PIXEL
      const name = `${clientId} ${source.sha256} ${page}`
      const pixelsOfSource = { name, bytes, isSlow, decode: () => decode(pixels(page)), signal }
      const isShared = source.sha256 !== undefined && suffices(copyScale, scale)
      return isShared ? shared.use(pixelsOfSource, fromShared) : fromShared(undefined)
    },
  }
}

/** Whether an error would also meet the source: it waits too long, or its payer has no CPU time left. */
function isAboutLoad(error: unknown): boolean {
  return error instanceof Problem && (error.status === 429 || error.status === 503)
}
