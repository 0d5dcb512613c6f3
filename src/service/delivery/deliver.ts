import { type Asset, withLastModified } from '../../core/bytes/asset.ts'
import type { Client } from '../../core/clients/client.ts'
import { candidatesInFolder, isAllWithin } from '../../core/clients/grant.ts'
import { classifyKey, derivativeKey, type ObjectKey, partsPrefix } from '../../core/files/object-key.ts'
import { parsePath } from '../../core/files/request-path.ts'
import { INFORMATION_VARIANT } from '../../core/files/variant.ts'
import { isOfLimit } from '../../core/limit-problems.ts'
import { formatOfMediaType } from '../../core/media/formats.ts'
import { PRESET_WORD } from '../../core/plugin-api/query-names.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { Metrics } from '../../core/ports/metrics.ts'
import { assetNotFound, fileNotFound } from '../../core/problem.ts'
import { tooSmallFormat } from '../../core/transform-problems.ts'
import { noOriginalFallback } from '../../pipeline/plan/concealing.ts'
import type { Plan, PlanInput, Planner } from '../../pipeline/plan/plan.ts'
import { namedFiles } from '../../pipeline/plan/referenced-files.ts'
import { runsAsJob } from '../../pipeline/plan/runs-as-job.ts'
import type { Derivations } from '../derivatives/derivations.ts'
import type { FindLateTruncation } from '../derivatives/late-truncation.ts'
import type { NotedUses } from '../derivatives/noted-uses.ts'
import { originalBytes } from '../derivatives/original-bytes.ts'
import { reopened } from '../derivatives/reopened.ts'
import { sourceNotes } from '../derivatives/source-facts.ts'
import type { DerivativeFile, FoundOriginal, Originals } from '../originals/originals.ts'
import type { Deliveries, Delivery, DeliveryRequest } from './deliveries.ts'
import { severalFiles, transformOfDerivative } from './delivery-problems.ts'
import type { MediaJobs } from './media-job.ts'

/** A delivery without what the request has made of it. */
type Found = Omit<Delivery, 'variesByAccept' | 'notes'>

type RenderRequest = Pick<
  DeliveryRequest,
  'client' | 'caller' | 'waitMs' | 'beforeRender' | 'beforeJob' | 'isSigned' | 'signal'
>

export function createDeliveries({
  originals,
  derivations,
  media,
  buckets,
  uses,
  plan,
  metrics,
  findLateTruncation,
  onLimit,
}: {
  originals: Originals
  derivations: Derivations
  media: MediaJobs
  buckets: Buckets
  uses: NotedUses
  plan: Planner
  metrics: Pick<Metrics, 'derivativeLookedUp'>
  findLateTruncation: FindLateTruncation
  /** What is delivered where a transformation meets a limit. */
  onLimit: 'refuse' | 'original'
}): Deliveries {
  async function original(client: Client, { name, record }: FoundOriginal): Promise<Found> {
    const asset = await originalBytes(buckets.of(client), record)
    if (!asset) throw fileNotFound()
    return {
      key: name.key,
      asset: withLastModified(asset, record.storedAt),
      originalName: record.originalName,
      newFormat: undefined,
    }
  }

  /** A derivative that is stored, or undefined when it has to be made. */
  async function stored(client: Client, found: FoundOriginal, key: ObjectKey) {
    const { name, record } = found
    const asset = await originals.derivativeToRead(client, name.key, key)
    return asset && derived(found, key, withLastModified(asset, record.storedAt))
  }

  /** A derivative that a path names: it is there, or there is no such file. */
  async function namedDerivative(client: Client, found: FoundOriginal, variant: string): Promise<Delivery> {
    // What is known of a picture is no picture, and has an address of its own.
    if (variant === INFORMATION_VARIANT) throw fileNotFound()
    const key = derivativeKey(found.name.key, variant)
    const meaning = classifyKey(key)
    const derivative = meaning?.kind === 'part' ? meaning.derivative : key
    const file = await current(client, found, { key, derivative })
    return { ...file, ...UNTRANSFORMED, notes: sourceNotes(found.record) }
  }

  /** A file of a derivative that is stored, or being made and can be read already. @throws Problem 404 */
  async function current(client: Client, found: FoundOriginal, wanted: DerivativeFile): Promise<Found> {
    const { name, record } = found
    const file = await originals.fileToRead(client, name.key, wanted)
    if (!file) throw fileNotFound()
    uses.note({ clientId: client.id, key: name.key }, wanted.derivative, { isHeld: false })
    const { asset, isPartial } = file
    const delivery = derived(found, wanted.key, withLastModified(asset, record.storedAt))
    return isPartial ? { ...delivery, isPartial } : delivery
  }

  /** As stored, or made now; by another plan when the first one's format cannot hold the picture. */
  async function loadOrRender(
    found: FoundOriginal,
    planned: Plan,
    input: PlanInput,
    request: RenderRequest,
  ): Promise<Found> {
    const { client, caller, waitMs = 0, beforeRender, signal } = request
    const isHeld = caller.isTrusted || isPresetAlone(input.query)
    const key = derivativeKey(found.name.key, planned.variant)
    const known = await stored(client, found, key)
    metrics.derivativeLookedUp(known ? 'hit' : 'miss')
    const render = (how?: Pick<DeliveryRequest, 'beforeRender'>) =>
      derivations.derive({ ...found, client, caller, plan: planned, isHeld, ...how, signal })
    if (known) {
      uses.note({ clientId: client.id, key: found.name.key }, key, { isHeld })
      return runsAsJob(planned) ? known : { ...known, asset: reopened(known.asset, render) }
    }
    if (runsAsJob(planned)) {
      const { query, accept } = input
      const { beforeJob, isSigned } = request
      const wanted = {
        client,
        caller,
        original: found,
        plan: planned,
        query: [...query],
        accept,
        isHeld,
        beforeJob,
        isSigned,
      }
      await media.finish(wanted, { waitMs, signal })
      // It may have ended without one: the original went meanwhile.
      return current(client, found, { key, derivative: key })
    }
    try {
      const asset = await render(beforeRender ? { beforeRender } : {})
      const delivery = derived(found, key, reopened(asset, render))
      return asset.isUnstored ? { ...delivery, isUnstored: true } : delivery
    } catch (error) {
      const format = tooSmallFormat(error)
      if (format === undefined) throw error
      const next = { ...input, tooSmall: [...(input.tooSmall ?? []), format] }
      const other = plan(next)
      // The format was asked for by name, or no other is left.
      if (other.variant === planned.variant) throw error
      return loadOrRender(found, other, next, { client, caller, signal })
    }
  }

  /** The same, with the notes of an original that turns out to be truncated only now as well. */
  async function storedOrMadeWithNotes(
    found: FoundOriginal,
    planned: Plan,
    input: PlanInput,
    request: RenderRequest,
  ): Promise<Found & Pick<Delivery, 'notes'>> {
    try {
      const derivative = await loadOrRender(found, planned, input, request)
      return { ...derivative, notes: [...planned.notes, ...sourceNotes(found.record)] }
    } catch (error) {
      const marked = await findLateTruncation(request.client, found, error)
      if (!marked) throw error
      return storedOrMadeWithNotes(marked, planned, input, request)
    }
  }

  /** Its steps name no file outside of the folder that the request is for. */
  function checkNamed({ steps }: Plan, within: Pick<DeliveryRequest, 'folder'>): void {
    if (within.folder === undefined) return
    for (const { param, key } of namedFiles(steps))
      if (!isAllWithin(parsePath(key, { param }), within)) throw assetNotFound(param, key)
  }

  return {
    plan(request) {
      const planned = plan(inputOf(request))
      checkNamed(planned, request)
      return planned
    },

    async begin({ client, caller, query, original }) {
      const input = inputOf({ client, query, format: original.format, accept: '' })
      const planned = plan(input)
      if (!runsAsJob(planned)) return undefined
      const found = await originals.resolve(client, { full: original })
      if (!found) throw fileNotFound()
      if (await stored(client, found, derivativeKey(original.key, planned.variant)))
        return { state: 'done', attempts: 0, progress: 1 }
      const isHeld = caller.isTrusted
      return media.begin({ client, caller, original: found, plan: planned, query, accept: '', isHeld })
    },

    async deliver(request) {
      const { client, group, path, query, accept, isOneFile = false } = request
      const found = await originals.resolveToRead(
        client,
        candidatesInFolder(parsePath(path, { group }), request),
      )
      if (!found || found.name.format.group !== group) throw fileNotFound()
      const input = inputOf({ client, query, format: found.name.format, accept })
      const planned = plan(input)
      checkNamed(planned, request)
      const { steps, variesByAccept, notes } = planned
      if (found.variant !== undefined) {
        if (steps.length > 0) throw transformOfDerivative()
        return namedDerivative(client, found, found.variant)
      }
      if (steps.length === 0) return { ...(await original(client, found)), variesByAccept, notes }
      const mustRedirect = partsPrefix(derivativeKey(found.name.key, planned.variant)) !== undefined
      if (mustRedirect && isOneFile) throw severalFiles()
      try {
        const derivative = await storedOrMadeWithNotes(found, planned, input, request)
        return { ...derivative, variesByAccept, ...(mustRedirect ? { mustRedirect } : {}) }
      } catch (error) {
        if (onLimit === 'refuse' || !isOfLimit(error) || noOriginalFallback(planned)) throw error
        return { ...(await original(client, found)), variesByAccept, notes: [], fallbackReason: error.code }
      }
    },

    async object({ client, path }) {
      const { full } = parsePath(path)
      const found = full && (await originals.resolveToRead(client, { full }))
      if (!found) throw fileNotFound()
      if (found.variant === undefined) return { ...(await original(client, found)), ...UNTRANSFORMED }
      return namedDerivative(client, found, found.variant)
    },
  }
}

function inputOf({ client, query, format, accept }: Parameters<Deliveries['plan']>[0]): PlanInput {
  return { query, format, accept, rules: client.rules }
}

/** Operators define presets, so strangers cannot request many of them; with another parameter they could. */
function isPresetAlone(query: PlanInput['query']): boolean {
  const names = [...query].map(([name]) => name)
  return names.length > 0 && names.every((name) => name === PRESET_WORD)
}

const UNTRANSFORMED = { variesByAccept: false, notes: [] }

function derived({ name, record }: FoundOriginal, key: ObjectKey, asset: Asset): Found {
  const format = formatOfMediaType(asset.mediaType)
  const same = format.mediaType === name.format.mediaType
  return { key, asset, originalName: record.originalName, newFormat: same ? undefined : format }
}
