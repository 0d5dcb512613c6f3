import type { Asset } from '../../core/bytes/asset.ts'
import { type Reducible, scaleOfCopy, suffices } from '../../core/media/copies.ts'
import type { Forecast } from '../../core/plugin-api/plugin.ts'
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

// Without shrinking in the decoder, a megapixel takes 10 ms or more, otherwise 2 ms.
const UNSHRUNK_FROM_PIXELS = 4_000_000
const SHARED_FROM_PIXELS = 12_000_000
// Red, green, blue and alpha.
const BYTES_PER_PIXEL = 4
// A proxy is compressed with loss, which outputs of at most half its size do not show: SSIM 0.996. At three quarters it is 0.99.
const LEAST_REDUCTION = 2

/** @param options.proxyFromPixels 0: no proxies are used or made. `pixels`: the plan that decodes a copy into memory */
export function createCopies({
  proxyFromPixels,
  pixels,
  shared = createSharedPixels(),
}: {
  proxyFromPixels: number
  pixels: Plan
  shared?: SharedPixels
}): Copies {
  const fromPixels = proxyFromPixels || SHARED_FROM_PIXELS

  function isExpensive({ full: { width, height }, shrinksOnLoad }: Reducible): boolean {
    const from = shrinksOnLoad ? fromPixels : Math.min(fromPixels, UNSHRUNK_FROM_PIXELS)
    return width * height >= from
  }

  return {
    async render({ reducible, source }, { context, decode, render }) {
      if (!reducible || !isExpensive(reducible)) return render(undefined)
      const { full, scale, isSlow = false } = reducible
      const { signal, clientId, log } = context
      const copyScale = scaleOfCopy(full)
      const asCopy = (asset: Asset): Asset => ({ ...asset, copyOf: full })
      const proxy = proxyFromPixels > 0 ? context.proxy : undefined
      const tried = async (copy: Asset) => {
        try {
          return await render(asCopy(copy))
        } catch (error) {
          if (signal.aborted || isAboutLoad(error)) throw error
          log.warn({ err: error }, 'a smaller copy of an image could not be used')
          return undefined
        }
      }
      const stored = suffices(copyScale, scale * LEAST_REDUCTION) ? await proxy?.find() : undefined
      const fromStored = stored && (await tried(stored))
      if (fromStored) return fromStored
      const fromShared = async (copy: Asset | undefined) => {
        const fromCopy = copy && (await tried(copy))
        const outcome = fromCopy ?? (await render(undefined))
        const made = stored ? undefined : proxy?.make({ atOnce: fromCopy !== undefined })
        // The pixels stay in memory until the proxy has been rendered from them.
        if (fromCopy && made) void shared.use(pixelsOfSource, () => made).catch(() => {})
        return outcome
      }
      const bytes = full.width * full.height * copyScale ** 2 * BYTES_PER_PIXEL
      const name = `${clientId} ${source.sha256}`
      const pixelsOfSource = { name, bytes, isSlow, decode: () => decode(pixels), signal }
      const isShared = source.sha256 !== undefined && suffices(copyScale, scale)
      return isShared ? shared.use(pixelsOfSource, fromShared) : fromShared(undefined)
    },
  }
}

/** Whether an error would also meet the source: it waits too long, or its payer has no CPU time left. */
function isAboutLoad(error: unknown): boolean {
  return error instanceof Problem && (error.status === 429 || error.status === 503)
}
