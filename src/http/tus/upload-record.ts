import { setTimeout as pause } from 'node:timers/promises'
import { isStillStoring } from '../../service/upload/resumable/finish-resumable.ts'
import type { Bearer, Resumables } from '../../service/upload/resumable/resumables.ts'
import type { UploadedFile } from '../../service/upload/upload-request.ts'
import { type Place, uploadToWire } from '../wire/file.ts'

// Heroku aborts a response after 30 s. A client without a record requests it later, and the file is stored in any case.
const FINISH_WAIT_MS = 20_000

/**
 * Stores a complete upload.
 *
 * @param options.stored called when the original is stored, also after this function has returned
 * @returns the record of the original, in an array, as JSON in ASCII for a header; undefined when it takes longer than
 *   20 s, or is left to a sweep
 * @throws Problem as `Resumables.finish` does
 */
export async function finishedRecord(
  grant: Bearer,
  id: string,
  {
    resumables,
    stored,
    ...place
  }: Omit<Place, 'client'> & {
    resumables: Pick<Resumables, 'finish'>
    stored?: (file: UploadedFile) => void
  },
): Promise<string | undefined> {
  const file = await finishedFile(resumables.finish(grant, id), { stored })
  return file && recordText(file, { ...place, client: grant.client })
}

/** The file of a complete upload; undefined when it takes longer than 20 s, or is left to a sweep. @throws as `finishing` does */
export async function finishedFile(
  finishing: Promise<UploadedFile>,
  { stored }: { stored?: ((file: UploadedFile) => void) | undefined } = {},
): Promise<UploadedFile | undefined> {
  const left = new AbortController()
  // It continues after this function has returned.
  finishing.then(stored).catch(() => {})
  try {
    const waiting = pause(FINISH_WAIT_MS, undefined, { signal: left.signal })
    return await Promise.race([finishing, waiting]).catch((error) => {
      if (isStillStoring(error)) return undefined
      throw error
    })
  } finally {
    left.abort()
  }
}

/** JSON in ASCII, as a header requires. */
function recordText(file: UploadedFile, place: Place): string {
  return JSON.stringify([uploadToWire(file, { ...place, options: {} })]).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
