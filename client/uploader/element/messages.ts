import type { SluiceError } from '../../http/problem.ts'
import { sizeText, timeText, typesText } from './format.ts'
import { fill, type Texts } from './texts.ts'

/** Why a file has failed, and what the user can do. */
export function messageOf({ code, status, detail, problem, retryAfter }: SluiceError, texts: Texts): string {
  if (code === 'too_large' || status === 413)
    return problem?.maxBytes === undefined
      ? texts.errorSizeUnknown
      : fill(texts.errorSize, { size: sizeText(problem.maxBytes) })
  if (code === 'type_not_allowed' || status === 415)
    return typeof problem?.expected === 'string'
      ? fill(texts.errorType, { types: typesText(problem.expected, texts) })
      : texts.errorTypeUnknown
  if (code === 'storage_full' || status === 507) return texts.errorFull
  if (status === 429 || status === 503)
    return retryAfter === undefined
      ? texts.errorBusyManual
      : `${texts.errorBusy} ${fill(texts.retryIn, { time: timeText(retryAfter, texts) })}`
  const known: Record<string, string> = {
    image_size_not_allowed: texts.errorPixels,
    file_not_decodable: texts.errorDecodable,
    network: texts.errorNetwork,
    timeout: texts.errorNetwork,
    link_expired: texts.errorLink,
    link_invalid: texts.errorLink,
    link_used: texts.errorUsed,
    // The text of the page's own function for links.
    link_failed: detail,
  }
  return known[code] ?? texts.errorOther
}

/** A file that waits for a retry: why, and the time that remains. */
export function retryMessage(
  error: SluiceError,
  { retryAt, texts }: { retryAt: number; texts: Texts },
): string {
  const seconds = (retryAt - Date.now()) / 1000
  const reason = error.code === 'link_busy' ? texts.waiting : texts.errorBusy
  return `${reason} ${fill(texts.retryIn, { time: timeText(seconds, texts) })}`
}
