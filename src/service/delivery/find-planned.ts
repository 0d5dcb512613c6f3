import type { Client } from '../../core/clients/client.ts'
import { candidatesInFolder } from '../../core/clients/grant.ts'
import { classifyKey, derivativeKey, type ObjectKey, type OriginalName } from '../../core/files/object-key.ts'
import { parsePath, readCandidates } from '../../core/files/request-path.ts'
import { isShorter } from '../../core/geometry/box.ts'
import type { OriginalRecord } from '../../core/ports/file-index.ts'
import { fileNotFound } from '../../core/problem.ts'
import type { Plan, PlanInput, Planner } from '../../pipeline/plan/plan.ts'
import type { FoundOriginal, Originals, OriginalToRead } from '../originals/originals.ts'
import type { DerivativeFile } from '../originals/stored-derivatives.ts'
import type { ScanQueue } from '../scans/scan-queue.ts'
import type { Deliveries, DeliveryRequest } from './deliveries.ts'
import { checkNamed } from './named-files.ts'
import type { OriginalSizes, SizeReader } from './original-sizes.ts'

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

type Planned = Pick<PlannedFile, 'input' | 'plan'>

/** Plans the queries of requests for stored files. */
export interface FilePlans extends Pick<Deliveries, 'plan' | 'planFor'> {
  /**
   * Finds the file that a request names, and plans its query.
   * @throws Problem 404 for a file that does not exist, in the URL's media group; 403, 423 because of its malware scan; 400, 403, 501 for the query of one that does
   */
  find(request: DeliveryRequest): Promise<PlannedFile>
}

/**
 * Finds files by one read of the index, which returns the original and the requested derivative. To know the derivative, the
 * query is planned first: a plan depends on the format of the original, which the path states.
 */
export function createFilePlans({
  originals,
  scans,
  sizes,
  plan,
}: {
  originals: Pick<Originals, 'findToRead'>
  scans: Pick<ScanQueue, 'check'>
  sizes: OriginalSizes
  plan: Planner
}): FilePlans {
  async function find(request: DeliveryRequest): Promise<PlannedFile> {
    const { client, group, path } = request
    for (const { variant, ...name } of readCandidates(
      candidatesInFolder(parsePath(path, { group }), request),
    )) {
      const input = inputOf({ ...request, format: name.format })
      const attempt = attemptOf(() => plan(input))
      const known = attempt.plan?.dependsOnSizeBelow && sizes.known(client, name.key)
      const guess = attempt.plan && withFacts({ input, plan: attempt.plan }, { size: known?.size })
      const named = variant === undefined ? undefined : namedFile(name, variant)
      const key = guess?.plan.steps.length ? derivativeKey(name.key, guess.plan.variant) : undefined
      const found = await originals.findToRead(client, name, named?.derivative ?? key)
      if (!found) continue
      if (name.format.group !== group) throw fileNotFound()
      scans.check(client, found.record)
      // Only now: the response for a file that does not exist is 404, whatever the query.
      if (attempt.plan === undefined || guess === undefined) throw attempt.error
      const planned = { found, ...guess, ...(key ? { key } : {}), ...(named ? { named } : {}) }
      if (named || !key) return planned
      const isStored = !known && found.indexed?.derivative?.state === 'stored'
      const first = { input, plan: attempt.plan }
      const right = await forOriginal(first, found, { ...request, isSizeNeeded: !isStored })
      return right.plan.variant === guess.plan.variant ? planned : readAgain(client, found, right)
    }
    throw fileNotFound()
  }

  /** Only when the facts about the original change the plan, the index is read a second time. */
  async function readAgain(client: Client, { name }: FoundOriginal, planned: Planned): Promise<PlannedFile> {
    const key = derivativeKey(name.key, planned.plan.variant)
    const found = await originals.findToRead(client, name, key)
    if (!found) throw fileNotFound()
    return { found, ...planned, key }
  }

  /** Plans the query again, if the focal point or the size of the original changes the plan. */
  async function forOriginal(
    first: Planned,
    original: FoundOriginal,
    { client, isSizeNeeded, ...by }: SizeReader & { client: Client; isSizeNeeded: boolean },
  ): Promise<Planned> {
    const { focalPoint } = original.record
    const isRead = first.plan.dependsOnSizeBelow && isSizeNeeded
    return withFacts(first, { focalPoint, size: isRead ? await sizes.read(client, original, by) : undefined })
  }

  function withFacts(first: Planned, { focalPoint, size }: Pick<PlanInput, 'focalPoint' | 'size'>): Planned {
    const { dependsOnFocalPoint, dependsOnSizeBelow: sides } = first.plan
    const input = {
      ...first.input,
      ...(dependsOnFocalPoint && focalPoint ? { focalPoint } : {}),
      ...(sides && size && isShorter(size, sides) ? { size } : {}),
    }
    return input.focalPoint || input.size ? { input, plan: plan(input) } : first
  }

  return {
    find,
    plan(request) {
      const planned = plan(inputOf(request))
      checkNamed(planned, request)
      return planned
    },
    async planFor({ client, query, preferences, ...by }, original) {
      const input = inputOf({ client, query, preferences, format: original.name.format })
      const first = { input, plan: plan(input) }
      return (await forOriginal(first, original, { client, ...by, isSizeNeeded: true })).plan
    },
  }
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
  // A plan never depends on the encoding, and would be cached once for each.
  const { encoding: _, ...ofPlan } = preferences
  return { query, format, preferences: ofPlan, rules: client.rules }
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
