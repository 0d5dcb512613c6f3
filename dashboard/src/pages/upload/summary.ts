import { useState } from 'react'
import { createRate } from '../../../../client/uploader/queue/rate.ts'
import { UPLOAD } from '../../texts/upload.ts'
import { isRetryable } from './advice.ts'
import { isRunning, type UploadItem } from './queue/item.ts'

/** Sums of all uploads. */
export interface Summary {
  total: number
  running: number
  done: number
  failed: number
  retryable: number
  paused: number
  interrupted: number
  /** In bytes. Failed files and files of URLs do not count. */
  sentBytes: number
  totalBytes: number
}

/** Counts the uploads by state. */
export function summaryOf(items: readonly UploadItem[]): Summary {
  const count = (test: (item: UploadItem) => boolean) => items.filter(test).length
  const counted = items.filter(({ status, source }) => status !== 'failed' && !(source instanceof URL))
  return {
    total: items.length,
    running: count(isRunning),
    done: count(({ status }) => status === 'done'),
    failed: count(({ status }) => status === 'failed'),
    retryable: count(isRetryable),
    paused: count(({ status }) => status === 'paused'),
    interrupted: count(({ status }) => status === 'interrupted'),
    sentBytes: counted.reduce((sum, { sentBytes, size = 0 }) => sum + Math.min(sentBytes, size), 0),
    totalBytes: counted.reduce((sum, { size = 0 }) => sum + size, 0),
  }
}

/** Failed uploads first: their reasons would be hidden among thousands of others. */
export function failedFirst(items: readonly UploadItem[]): readonly UploadItem[] {
  const failed = items.filter(({ status }) => status === 'failed')
  return failed.length === 0 ? items : [...failed, ...items.filter(({ status }) => status !== 'failed')]
}

/** What happens to all uploads, in a few words. */
export function titleOf({ total, running, done, failed, paused, interrupted }: Summary): string {
  if (total === 0) return UPLOAD.title
  if (running > 0) return UPLOAD.uploading(done, total)
  if (paused > 0) return UPLOAD.allPaused(paused)
  if (interrupted > 0) return UPLOAD.toContinue(interrupted)
  return failed > 0 ? UPLOAD.someFailed(failed, done) : UPLOAD.allDone(done)
}

/** Seconds until all bytes are sent, at the rate of the last seconds. Undefined while the rate is not known. */
export function useSecondsLeft({ running, ...bytes }: Summary): number | undefined {
  const [rate] = useState(createRate)
  return running === 0 ? undefined : rate.secondsLeft(bytes)
}
