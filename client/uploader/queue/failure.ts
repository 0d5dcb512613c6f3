import { isBusy, SluiceError } from '../../http/problem.ts'
import type { UploadItem } from './item.ts'

// A longer wait is an error, which the user can retry.
const RETRY_MAX_SECONDS = 600

const FINAL_CODES = ['too_large', 'type_not_allowed', 'image_size_not_allowed', 'file_not_decodable']

/** Whether the upload of a failed file can succeed later. */
export function isRetryable({ status, file, error }: UploadItem): boolean {
  return status === 'failed' && file !== undefined && !isFinal(error)
}

/** Whether the same file would be refused again. */
export function isFinal(error: SluiceError | undefined): boolean {
  return FINAL_CODES.includes(error?.code ?? '')
}

/** When a queue retries by itself, in milliseconds since 1970. Undefined: the user decides. */
export function retryAtOf(error: SluiceError, now = Date.now()): number | undefined {
  const { retryAfter, code } = error
  const isLater = isBusy(error) || code === 'link_busy'
  if (!isLater || retryAfter === undefined || retryAfter > RETRY_MAX_SECONDS) return undefined
  // A second at least: "Retry-After: 0" must not become a busy loop.
  return now + 1000 * Math.max(1, retryAfter)
}

/** What has failed as a SluiceError, with a code for anything else. A function for links can throw anything. */
export function errorFrom(cause: unknown, code = 'link_failed'): SluiceError {
  if (cause instanceof SluiceError) return cause
  const detail = cause instanceof Error ? cause.message : 'The upload failed.'
  return new SluiceError(detail, { code, cause })
}
