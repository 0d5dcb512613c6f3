import { QUEUE_CALLER } from '../../../core/clients/caller.ts'
import type { Log } from '../../../core/log.ts'
import { transformedAs } from '../../../core/media/formats.ts'
import type { TransformLimits } from '../../../core/plugin-api/limits.ts'
import { fileNotFound, NOT_TRANSFORMABLE, Problem } from '../../../core/problem.ts'
import { BROKEN, truncatedImage } from '../../../core/transform-problems.ts'
import type { Planner } from '../../../pipeline/plan/plan.ts'
import { informationPlan, isInspected } from '../../../pipeline/run/info-plan.ts'
import { refuseParts } from '../../../pipeline/run/refuse-parts.ts'
import type { WorkRunner } from '../../../pipeline/run/run.ts'
import { createLeftovers } from '../../derivatives/cleanup.ts'
import { sourceFacts } from '../../derivatives/source-facts.ts'
import type { ArrivedFile } from './upload-rules.ts'

/**
 * Decodes an image, and reads the headers of a video or a sound, within the limits of transformations. Does nothing for other
 * files.
 *
 * @throws Problem 422 for a file that cannot be decoded, is truncated, or exceeds a limit; 429, 501, 503 as transformations do
 */
export type CheckDecodable = (file: ArrivedFile) => Promise<void>

/** Has the check once the process can transform files. Uploads are opened before transformations. */
export interface DecodableSlot {
  check?: CheckDecodable
}

export function createCheckDecodable({
  run,
  plan,
  limits,
  log,
}: {
  run: WorkRunner
  plan: Planner
  limits: TransformLimits
  log: Log
}): CheckDecodable {
  return async ({ client, format, record, bucket, signal }) => {
    // A document may be valid and encrypted.
    if (!isInspected(format) || transformedAs(format) !== format.group) return
    if (record.truncated) throw undecodable(truncatedImage())
    const source = await bucket.find(record.key, record)
    if (!source) throw fileNotFound()
    const leftovers = createLeftovers(log, { key: record.key })
    try {
      await run(
        informationPlan(plan, format),
        { ...source, ...sourceFacts(record) },
        {
          clientId: client.id,
          caller: QUEUE_CALLER,
          rates: client.rules?.rates,
          asset: noOtherFile,
          storePart: refuseParts,
          limits,
          signal,
          log,
          afterwards: leftovers.add,
        },
      )
    } catch (error) {
      throw error instanceof Problem && error.status === 422 ? undecodable(error) : error
    } finally {
      await leftovers.remove()
    }
  }
}

async function noOtherFile(): Promise<never> {
  throw new Error('the check of a file uses no other file')
}

/** 422: with the reason of the failed transformation. */
function undecodable(cause: Problem): Problem {
  const { code, message } = cause
  const reason = code === NOT_TRANSFORMABLE ? String(cause.members.reason ?? BROKEN) : code
  return new Problem({
    status: 422,
    code: 'file_not_decodable',
    detail: `Only files that can be decoded are accepted here. ${message}`,
    members: { reason },
    cause,
  })
}
