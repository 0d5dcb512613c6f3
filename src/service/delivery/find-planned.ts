import type { Client } from '../../core/clients/client.ts'
import { candidatesInFolder } from '../../core/clients/grant.ts'
import { classifyKey, derivativeKey, type ObjectKey, type OriginalName } from '../../core/files/object-key.ts'
import { parsePath, readCandidates } from '../../core/files/request-path.ts'
import type { OriginalRecord } from '../../core/ports/file-index.ts'
import { fileNotFound } from '../../core/problem.ts'
import type { Plan, PlanInput, Planner } from '../../pipeline/plan/plan.ts'
import type { Originals, OriginalToRead } from '../originals/originals.ts'
import type { DerivativeFile } from '../originals/stored-derivatives.ts'
import type { DeliveryRequest } from './deliveries.ts'

/** The file that a request names, and the plan of its query. */
export interface PlannedFile {
  found: OriginalToRead
  /** The input of the plan, from which the plan for another format can be derived. */
  input: PlanInput
  plan: Plan
  /** The key of the derivative that the plan renders; absent for a plan without steps. */
  key?: ObjectKey
  /** The file of a derivative that the path names; absent when the path names an original. */
  named?: DerivativeFile
}

/** @throws Problem 404 for a file that does not exist, in the URL's media group; 400, 403, 501 for the query of one that does */
export type FindPlanned = (request: DeliveryRequest) => Promise<PlannedFile>

/**
 * Finds files by one read of the index, which returns the original and the requested derivative. To know the derivative, the
 * query is planned first: a plan depends on the format of the original, which the path states.
 */
export function createFindPlanned({
  originals,
  plan,
}: {
  originals: Pick<Originals, 'findToRead'>
  plan: Planner
}): FindPlanned {
  async function find(request: DeliveryRequest): Promise<PlannedFile> {
    const { client, group, path } = request
    for (const { variant, ...name } of readCandidates(
      candidatesInFolder(parsePath(path, { group }), request),
    )) {
      const input = inputOf({ ...request, format: name.format })
      const attempt = attemptOf(() => plan(input))
      const named = variant === undefined ? undefined : namedFile(name, variant)
      const key = attempt.plan?.steps.length ? derivativeKey(name.key, attempt.plan.variant) : undefined
      const found = await originals.findToRead(client, name, named?.derivative ?? key)
      if (!found) continue
      if (name.format.group !== group) throw fileNotFound()
      // Only now: the response for a file that does not exist is 404, whatever the query.
      if (attempt.plan === undefined) throw attempt.error
      const planned = {
        found,
        input,
        plan: attempt.plan,
        ...(key ? { key } : {}),
        ...(named ? { named } : {}),
      }
      return named ? planned : withFocalPoint(client, planned)
    }
    throw fileNotFound()
  }

  /**
   * Plans the query again, when the focal point in the record changes the plan. Only then the index is read a second time.
   */
  async function withFocalPoint(client: Client, first: PlannedFile): Promise<PlannedFile> {
    const { found, plan: planned } = first
    const input = withFocalPointOf(found.record, first.input)
    if (!planned.dependsOnFocalPoint || input.focalPoint === undefined) return first
    const other = plan(input)
    if (other.variant === planned.variant) return first
    const key = derivativeKey(found.name.key, other.variant)
    const again = await originals.findToRead(client, found.name, key)
    if (!again) throw fileNotFound()
    return { found: again, input, plan: other, key }
  }

  return find
}

/** The same input, with the focal point of the file. */
export function withFocalPointOf({ focalPoint }: OriginalRecord, input: PlanInput): PlanInput {
  return focalPoint ? { ...input, focalPoint } : input
}

/** What a plan depends on. */
export function inputOf({
  client,
  query,
  format,
  preferences,
}: Pick<DeliveryRequest, 'client' | 'query' | 'preferences'> & Pick<PlanInput, 'format'>): PlanInput {
  return { query, format, preferences, rules: client.rules }
}

/** The file of a derivative whose variant a path names: its main file, or a part of a bundle. */
export function namedFile(original: OriginalName, variant: string): DerivativeFile {
  const key = derivativeKey(original.key, variant)
  const meaning = classifyKey(key)
  return { key, derivative: meaning?.kind === 'part' ? meaning.derivative : key }
}

function attemptOf(plan: () => Plan): { plan: Plan; error?: never } | { plan?: never; error: unknown } {
  try {
    return { plan: plan() }
  } catch (error) {
    return { error }
  }
}
