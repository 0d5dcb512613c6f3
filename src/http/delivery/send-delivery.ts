import type { Request, Response } from 'express'
import {
  cleanFileName,
  fittedName,
  hasKnownExtension,
  nameInFormat,
  splitName,
} from '../../core/files/file-name.ts'
import { formatOfMediaType } from '../../core/media/formats.ts'
import { DOWNLOAD_WORD, WAIT_WORD } from '../../core/plugin-api/query-names.ts'
import type { Delivery } from '../../service/delivery/deliveries.ts'
import { PASSING } from '../caching/lifetime.ts'
import { limitedPairs, onlyValue, type QueryPairs } from '../request.ts'
import { type SendOptions, sendAsset } from './send.ts'

// The format of files without a known signature.
const UNKNOWN_FORMAT = 'bin'

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
  extends Pick<
    SendOptions,
    | 'etag'
    | 'fullContentRange'
    | 'isHeld'
    | 'addToCache'
    | 'lifetime'
    | 'readers'
    | 'signal'
    | 'sendElsewhere'
  > {
  delivery: Pick<
    Delivery,
    | 'asset'
    | 'encoding'
    | 'sha256'
    | 'originalName'
    | 'newFormat'
    | 'variesBy'
    | 'fallbackReason'
    | 'isUnstored'
    | 'notes'
    | 'stored'
  >
  /**
   * The name to save the file under, empty for its own name; absent when it is displayed, not downloaded. Without an extension, it
   * gets that of the delivered format.
   */
  download?: string | undefined
}

/** Sends a file, with a header if it is not what was requested. @throws Problem 412, 416 */
export async function sendDelivery(
  req: Request,
  res: Response,
  { delivery, download, isHeld = false, sendElsewhere, ...options }: SendDeliveryOptions,
): Promise<void> {
  const { asset, encoding, variesBy, fallbackReason, isUnstored } = delivery
  setTransformHeader(res, delivery)
  setReprDigest(req, res, delivery)
  await sendAsset(req, res, {
    asset,
    encoding,
    variesBy,
    ...options,
    isHeld: isHeld || isUnstored,
    // A file that was rendered for this request may still be in memory only.
    ...(sendElsewhere && delivery.stored ? { sendElsewhere } : {}),
    ...(fallbackReason || isUnstored ? { lifetime: PASSING } : {}),
    ...(download === undefined ? {} : { downloadName: downloadNameOf(cleanFileName(download), delivery) }),
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

/** @see RFC 9530 section 4 */
function setReprDigest(
  req: Request,
  res: Response,
  { sha256, encoding }: Pick<Delivery, 'sha256' | 'encoding'>,
): void {
  const wanted = req.headers['want-repr-digest']
  // A digest is of the bytes as they are sent.
  if (wanted === undefined || sha256 === undefined || encoding !== undefined) return
  const isRefused = String(wanted)
    .split(',')
    .some((one) => one.trim() === 'sha-256=0')
  if (!isRefused) res.setHeader('Repr-Digest', `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`)
}

function downloadNameOf(
  wanted: string,
  { asset, originalName, newFormat }: Pick<Delivery, 'asset' | 'originalName' | 'newFormat'>,
): string {
  if (wanted === '') return newFormat ? nameInFormat(originalName, newFormat) : originalName
  if (hasKnownExtension(wanted)) return wanted
  const { name, extension } = newFormat ?? formatOfMediaType(asset.mediaType)
  if (name !== UNKNOWN_FORMAT) return fittedName(wanted, `.${extension}`)
  // Its extension is that of its own name, and so may be that of the requested one.
  return splitName(wanted).ending ? wanted : fittedName(wanted, splitName(originalName).ending)
}
