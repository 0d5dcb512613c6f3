import type { SluiceError } from '../../../../client/index.ts'
import { isFinal } from '../../../../client/uploader/queue/failure.ts'
import { UPLOAD } from '../../texts/upload.ts'
import { formatBytes } from '../../ui/format.ts'
import type { UploadItem } from './queue/item.ts'

const TEXTS = UPLOAD.errors

/** Why an upload has failed, and what the member can do. */
export function adviceOf({ code, status, detail, problem }: SluiceError): string {
  if (code === 'too_large' || status === 413)
    return problem?.maxBytes === undefined
      ? TEXTS.tooLargeUnknown
      : TEXTS.tooLarge(formatBytes(problem.maxBytes))
  if (code === 'type_not_allowed' || status === 415)
    return typeof problem?.expected === 'string' ? TEXTS.type(problem.expected) : TEXTS.typeUnknown
  if (code === 'storage_full' || status === 507) return TEXTS.full
  if (status === 429 || status === 503) return TEXTS.busy
  const known: Record<string, string> = {
    image_size_not_allowed: TEXTS.pixels,
    file_not_decodable: TEXTS.damaged,
    network: TEXTS.network,
    timeout: TEXTS.network,
    upload_not_found: TEXTS.expired,
    bad_response: UPLOAD.noRecord,
    forbidden: TEXTS.forbidden,
  }
  // The service describes the problem itself, for example of a URL that it could not fetch.
  return known[code] ?? TEXTS.other(detail)
}

/** Whether a retry of a failed upload can succeed. */
export function isRetryable({ status, source, error }: UploadItem): boolean {
  return status === 'failed' && source !== undefined && !isFinal(error)
}
