import { derivativeKey, type ObjectKey, type OriginalName } from '../../core/files/object-key.ts'
import { isOffice } from '../../core/media/formats.ts'
import type { Planner } from '../../pipeline/plan/plan.ts'
import type { NotedUses } from '../derivatives/noted-uses.ts'
import type { FoundOriginal, Originals } from '../originals/originals.ts'
import type { DeliveryRequest } from './deliveries.ts'
import type { MediaJobs } from './media-job.ts'
import { isChosenByClient } from './media-places.ts'

const QUERY = [['pdf', '']] as const

/** The key of the PDF of an Office document. @throws Problem 400 when the operator has disabled the plugin */
export function pdfKeyOf(plan: Planner, { key, format }: OriginalName): ObjectKey {
  return derivativeKey(key, plan({ query: QUERY, format, preferences: {} }).variant)
}

/**
 * Ensures that the source of a page is stored: for an Office document its PDF, which a job renders once.
 *
 * @returns the key of the PDF; undefined for a file that is the source itself
 * @throws Problem 423 while the job is in progress, its failure, 403, 429, 501 without LibreOffice, 503
 */
export type PdfOf = (
  original: FoundOriginal,
  request: Pick<
    DeliveryRequest,
    'client' | 'caller' | 'query' | 'waitMs' | 'beforeJob' | 'isSigned' | 'signal'
  >,
) => Promise<ObjectKey | undefined>

export function createPdfOf({
  originals,
  media,
  plan,
  uses,
}: {
  originals: Pick<Originals, 'derivativeToRead'>
  media: Pick<MediaJobs, 'finish'>
  plan: Planner
  uses: Pick<NotedUses, 'note'>
}): PdfOf {
  return async ({ name, record }, { client, caller, query, waitMs = 0, beforeJob, isSigned, signal }) => {
    const { key: original, format } = name
    if (!isOffice(format)) return undefined
    const planned = plan({ query: QUERY, format, preferences: {} })
    const key = derivativeKey(original, planned.variant)
    if (!(await originals.derivativeToRead(client, original, key))) {
      const job = { client, caller, original: { name, record }, plan: planned, query: QUERY, preferences: {} }
      const isChosen = isChosenByClient({ query, isSigned })
      // Every page needs it, so it is evicted last.
      const wanted = { ...job, beforeJob, isSigned: isChosen, isHeld: true, isSource: true }
      await media.finish(wanted, { waitMs, signal })
    }
    uses.note({ clientId: client.id, key: original }, key, { isHeld: true })
    return key
  }
}
