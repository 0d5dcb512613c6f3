import { Problem, STORAGE_FULL } from '../problem.ts'

const CODES = ['ENOSPC', 'EDQUOT', 'EFBIG']

// LevelDB reports these without an error code of the system.
const MESSAGES = /No space left on device|Disk quota exceeded|File too large/

/** Whether a write failed, directly or by its cause, because of a full disk, a quota, or the file size limit of the process. */
export function isFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  // The text of a problem is for the caller, and may be about something else: an upload, for example, can be too large.
  if (error instanceof Problem) return error.code === STORAGE_FULL || isFull(error.cause)
  const { code = '' } = error as NodeJS.ErrnoException
  return CODES.includes(code) || MESSAGES.test(error.message) || isFull(error.cause)
}
