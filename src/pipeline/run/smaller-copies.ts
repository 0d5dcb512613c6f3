import type { Asset } from '../../core/bytes/asset.ts'
import {
  COPIES_FROM_PIXELS,
  COPY_SIDE,
  PROXY_SIDES,
  type ProxySide,
  type Reducible,
  scaleOfCopy,
  suffices,
} from '../../core/media/smaller-copies.ts'
import type { Forecast } from '../../core/plugin-api/forecast.ts'
import { Problem } from '../../core/problem.ts'
import type { Plan } from '../plan/plan.ts'
import type { StoredProxies, WorkContext } from './run.ts'
import { createSharedPixels, type SharedPixels, type SharedSource } from './shared-pixels.ts'

/** Renders from smaller copies of sources that are expensive to decode. */
export interface SmallerCopies {
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
export function createSmallerCopies({
  proxyFromPixels,
  pixels,
  shared = createSharedPixels(),
}: {
  proxyFromPixels: number
  pixels: (page: number) => Plan
  shared?: SharedPixels
}): SmallerCopies {
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

  /** The sides of the proxies that suffice for these steps, in ascending order. */
  function sidesOf(reducible: Reducible, isForCopy = false): ProxySide[] {
    const leastScale = reducible.scale * (isForCopy ? LEAST_REDUCTION_OF_COPY : LEAST_REDUCTION)
    return PROXY_SIDES.filter(
      (side) => mayHave(side, reducible) && suffices(scaleOfCopy(reducible.full, side), leastScale),
    )
  }

  return {
    async render({ reducible, source }, { context, decode, render }) {
      if (!reducible) return render(undefined)
      const { full, scale, page = 1, isSlow = false } = reducible
      const { signal, clientId } = context
      const proxies = proxyFromPixels > 0 ? context.proxies : undefined
      const sides = sidesOf(reducible, proxies?.isForCopy)
      const [smallest] = sides
      const make = (side: ProxySide | undefined, atOnce: boolean) =>
        side === undefined ? undefined : proxies?.make({ side, page }, { atOnce })
      /** @returns the side of the proxy that is worth rendering now */
      const ask = (fromLarger: boolean) =>
        smallest === undefined ? undefined : proxies?.askFor({ side: smallest, page }, { fromLarger })
      const renderFrom = (copy: Asset) => unlessUnusable(() => render({ ...copy, copyOf: full }), context)

      const stored = await storedProxy(proxies, { sides, page })
      const fromStored = stored && (await renderFrom(stored.asset))
      if (fromStored) {
        if (stored.side !== smallest) void make(ask(true), false)
        return fromStored
      }
      // All outputs of a slow source need its pixels, so a proxy of it costs no decode.
      const side = stored ? undefined : isSlow ? COPY_SIDE : ask(false)
      if (!isExpensive(reducible)) {
        const outcome = await render(undefined)
        void make(side, false)
        return outcome
      }
      const copyScale = scaleOfCopy(full)
      const sharedSource: SharedSource = {
        name: `${clientId} ${source.sha256} ${page}`,
        bytes: full.width * full.height * copyScale ** 2 * BYTES_PER_PIXEL,
        isSlow,
        // The output and the proxy are rendered from one decode.
        isForSeveral: isSlow || side !== undefined,
        decode: () => decode(pixels(page)),
        signal,
      }
      const renderFromPixels = async (copy: Asset | undefined) => {
        const fromCopy = copy && (await renderFrom(copy))
        const outcome = fromCopy ?? (await render(undefined))
        const made = make(side, fromCopy !== undefined)
        // The pixels stay in memory until the proxy has been rendered from them.
        if (fromCopy && made) void shared.use(sharedSource, () => made).catch(() => {})
        return outcome
      }
      const isShared = source.sha256 !== undefined && suffices(copyScale, scale)
      return isShared ? shared.use(sharedSource, renderFromPixels) : renderFromPixels(undefined)
    },
  }
}

/** The first stored proxy of these sides. */
async function storedProxy(
  proxies: StoredProxies | undefined,
  { sides, page }: { sides: readonly ProxySide[]; page: number },
): Promise<{ side: ProxySide; asset: Asset } | undefined> {
  for (const side of sides) {
    const asset = await proxies?.find({ side, page })
    if (asset) return { side, asset }
  }
  return undefined
}

/** The outcome of a render from a copy. Undefined when the copy cannot be used. @throws an error that would also meet the source */
async function unlessUnusable(
  render: () => Promise<Asset>,
  { signal, log }: Pick<WorkContext, 'signal' | 'log'>,
): Promise<Asset | undefined> {
  try {
    return await render()
  } catch (error) {
    if (signal.aborted || isAboutLoad(error)) throw error
    log.warn({ err: error }, 'a smaller copy of an image could not be used')
    return undefined
  }
}

/** Whether an error would also meet the source: it waits too long, or its payer has no CPU time left. */
function isAboutLoad(error: unknown): boolean {
  return error instanceof Problem && (error.status === 429 || error.status === 503)
}
