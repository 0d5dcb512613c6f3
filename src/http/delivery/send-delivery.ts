import type { Request, Response } from 'express'
import { cleanFileName, nameInFormat } from '../../core/files/file-name.ts'
import { DOWNLOAD_WORD, WAIT_WORD } from '../../core/plugin-api/query-names.ts'
import type { Delivery } from '../../service/delivery/deliveries.ts'
import { limitedPairs, onlyValue, type QueryPairs } from '../request.ts'
import { type Lifetime, type SendOptions, sendAsset } from './send.ts'

// The requested file may be available by then: a limit was raised, the load is over, or there is room to store it.
const PASSING_MAX_AGE_SECONDS = 60

/** Separates the parameters of delivery itself from those of the transformation. @throws Problem 400 */
export function deliveryQuery(query: QueryPairs) {
  const pairs = limitedPairs(query)
  return {
    download: onlyValue(pairs, DOWNLOAD_WORD),
    wait: onlyValue(pairs, WAIT_WORD),
    query: pairs.filter(([name]) => name !== DOWNLOAD_WORD && name !== WAIT_WORD),
  }
}

export interface SendDeliveryOptions
  extends Pick<SendOptions, 'etag' | 'fullContentRange' | 'isHeld' | 'addToCache' | 'readers' | 'signal'>,
    Lifetime {
  delivery: Pick<
    Delivery,
    'asset' | 'originalName' | 'newFormat' | 'variesBy' | 'fallbackReason' | 'isUnstored' | 'notes'
  >
  /** The name to save the file under, empty for its own name; absent when it is displayed, not downloaded. */
  download?: string | undefined
}

/** Sends a file, with a header if it is not what was requested. @throws Problem 412, 416 */
export async function sendDelivery(
  req: Request,
  res: Response,
  { delivery, download, isHeld = false, ...options }: SendDeliveryOptions,
): Promise<void> {
  const { asset, variesBy, fallbackReason, isUnstored } = delivery
  setTransformHeader(res, delivery)
  await sendAsset(req, res, {
    asset,
    variesBy,
    ...options,
    isHeld: isHeld || isUnstored,
    ...(fallbackReason || isUnstored ? { maxAgeSeconds: PASSING_MAX_AGE_SECONDS } : {}),
    ...(download === undefined ? {} : { downloadName: cleanFileName(download) || deliveredName(delivery) }),
  })
}

/** States in `X-Sluice-Transform` how the file differs from what was requested. */
export function setTransformHeader(
  res: Response,
  { fallbackReason, notes }: Pick<Delivery, 'fallbackReason' | 'notes'>,
): void {
  const all = [...(fallbackReason ? [`original for ${fallbackReason}`] : []), ...notes]
  if (all.length > 0) res.setHeader('X-Sluice-Transform', all.join(', '))
}

function deliveredName({ originalName, newFormat }: Pick<Delivery, 'originalName' | 'newFormat'>): string {
  return newFormat ? nameInFormat(originalName, newFormat) : originalName
}
