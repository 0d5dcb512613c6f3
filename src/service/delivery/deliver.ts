import { withLastModified } from '../../core/bytes/asset.ts'
import type { Client } from '../../core/clients/client.ts'
import { derivativeKey, type ObjectKey, partsPrefix } from '../../core/files/object-key.ts'
import { parsePath } from '../../core/files/request-path.ts'
import { isReservedKey } from '../../core/files/variant.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { Metrics } from '../../core/ports/metrics.ts'
import { fileNotFound } from '../../core/problem.ts'
import { type OnLimit, orUnmodified } from '../../pipeline/plan/or-unmodified.ts'
import type { Planner } from '../../pipeline/plan/plan.ts'
import { runsAsJob } from '../../pipeline/plan/runs-as-job.ts'
import { withFallback } from '../../pipeline/plan/with-fallback.ts'
import type { Derivations } from '../derivatives/derivations.ts'
import type { FindLateTruncation } from '../derivatives/late-truncation.ts'
import type { NotedUses } from '../derivatives/noted-uses.ts'
import { originalBytes } from '../derivatives/original-bytes.ts'
import { reopened } from '../derivatives/reopened.ts'
import type { SourceNotes } from '../derivatives/source-facts.ts'
import type { Usage } from '../files/usage.ts'
import type { FoundOriginal, Originals, OriginalToRead } from '../originals/originals.ts'
import type { DerivativeFile } from '../originals/stored-derivatives.ts'
import type { ScanQueue } from '../scans/scan-queue.ts'
import type { Deliveries, Delivery, DeliveryRequest, Found, StoredSource } from './deliveries.ts'
import { derived } from './deliveries.ts'
import { severalFiles, transformOfDerivative } from './delivery-problems.ts'
import { type FilePlans, inputOf, namedFile, type PlannedFile, withFocalPointOf } from './find-planned.ts'
import { isHeldFor } from './held.ts'
import type { MediaJobs } from './media-job.ts'
import { checkNamed, checkNamedPublic } from './named-files.ts'
import { createPdfOf } from './pdf-source.ts'

type RenderRequest = Pick<
  DeliveryRequest,
  'client' | 'caller' | 'waitMs' | 'beforeRender' | 'beforeJob' | 'isSigned' | 'signal'
>

/** A planned derivative of a stored original. */
interface Wanted extends Omit<PlannedFile, 'named'> {
  key: ObjectKey
}

export function createDeliveries({
  originals,
  filePlans,
  derivations,
  media,
  buckets,
  uses,
  plan,
  metrics,
  usage,
  scans,
  findLateTruncation,
  sourceNotes,
  onLimit,
}: {
  originals: Originals
  filePlans: FilePlans
  derivations: Derivations
  media: MediaJobs
  buckets: Buckets
  uses: NotedUses
  plan: Planner
  metrics: Pick<Metrics, 'derivativeLookedUp'>
  usage: Pick<Usage, 'cacheHit'>
  scans: Pick<ScanQueue, 'check'>
  findLateTruncation: FindLateTruncation
  sourceNotes: SourceNotes
  /** The response when a transformation exceeds a limit: an error, or the original. */
  onLimit: OnLimit
}): Deliveries {
  const pdfOf = createPdfOf({ originals, media, plan, uses })

  async function original(client: Client, { name, record }: FoundOriginal): Promise<Found> {
    const bytes = await originalBytes(buckets.of(client), record)
    if (!bytes) throw fileNotFound()
    const asset = withLastModified(bytes, record.storedAt)
    return {
      key: name.key,
      asset,
      originalName: record.originalName,
      sha256: record.sha256,
      newFormat: undefined,
      stored: { clientId: client.id, original: name.key, isHeld: false, asset },
    }
  }

  /** A derivative that is stored; undefined for one that has to be rendered. */
  async function stored(client: Client, found: OriginalToRead, key: ObjectKey): Promise<Found | undefined> {
    const { name, record, indexed } = found
    const asset = await originals.derivativeToRead(client, name.key, key, indexed)
    return asset && derived(found, key, withLastModified(asset, record.storedAt))
  }

  /** The file of a derivative that a path names. It is never rendered: @throws Problem 404 if it does not exist */
  async function namedDerivative(
    client: Client,
    found: OriginalToRead,
    file: DerivativeFile,
  ): Promise<Delivery> {
    // The information about a file has a route of its own, and a proxy has none.
    if (isReservedKey(found.name.key, file.key)) throw fileNotFound()
    const delivery = await current(client, found, file)
    return { ...delivery, ...UNTRANSFORMED, notes: sourceNotes(found.record) }
  }

  /** A file of a derivative that is stored, or in progress and readable already. @throws Problem 404 */
  async function current(client: Client, found: OriginalToRead, wanted: DerivativeFile): Promise<Found> {
    const { name, record, indexed } = found
    const file = await originals.fileToRead(client, name.key, wanted, indexed)
    if (!file) throw fileNotFound()
    const { asset, isPartial } = file
    const delivery = derived(found, wanted.key, withLastModified(asset, record.storedAt))
    const place = { clientId: client.id, original: name.key, derivative: wanted.derivative }
    const stored = { ...place, isHeld: false, isNamed: true, asset: delivery.asset } as const
    noteDelivered(stored)
    return { ...delivery, ...(isPartial ? { isPartial } : { stored }) }
  }

  /** A derivative that is stored, or that is rendered now. */
  async function loadOrRender(wanted: Wanted, request: RenderRequest): Promise<Found> {
    const { found, plan: planned, input } = wanted
    if (runsAsJob(planned)) return loadOrQueue(wanted, request)
    const { client, caller, beforeRender, signal } = request
    const { name, record } = found
    const isHeld = isHeldFor(request, input)
    const wish = { name, record, client, caller, isHeld, signal }
    return withFallback(plan, wanted, async (current, { isFallback }) => {
      const key = isFallback ? derivativeKey(name.key, current.variant) : wanted.key
      // The answer of the index is outdated after a render.
      const known = await load(client, isFallback ? { name, record } : found, { key, isHeld })
      const render = async (how?: Pick<DeliveryRequest, 'beforeRender'>) => {
        const from = await pdfOf({ name, record }, { ...request, query: [...input.query] })
        return derivations.derive({ ...wish, plan: current, from, ...how })
      }
      if (known) return { ...known, asset: reopened(known.asset, render) }
      const asset = await render(beforeRender && !isFallback ? { beforeRender } : {})
      const delivery = derived(found, key, reopened(asset, render))
      return asset.isUnstored ? { ...delivery, isUnstored: true } : delivery
    })
  }

  /** A derivative that is stored, or that a media job has stored in time. @throws Problem 423 for one that is in progress */
  async function loadOrQueue(wanted: Wanted, request: RenderRequest): Promise<Found> {
    const { query, preferences } = wanted.input
    const { client, caller, waitMs = 0, beforeJob, isSigned, signal } = request
    const { name, record } = wanted.found
    const isHeld = isHeldFor(request, wanted.input)
    const known = await load(client, wanted.found, { key: wanted.key, isHeld })
    if (known) return known
    const job = { client, caller, original: { name, record }, plan: wanted.plan, isHeld, beforeJob, isSigned }
    await media.finish({ ...job, query: [...query], preferences }, { waitMs, signal })
    // Without a result if the original was deleted in the meantime.
    return current(client, { name, record }, { key: wanted.key, derivative: wanted.key })
  }

  /** A stored derivative, counted as a hit and noted as used. */
  async function load(
    client: Client,
    found: OriginalToRead,
    { key, isHeld }: { key: ObjectKey; isHeld: boolean },
  ): Promise<Found | undefined> {
    const known = await stored(client, found, key)
    if (!known) metrics.derivativeLookedUp('miss')
    if (!known) return undefined
    const { asset } = known
    const entry = found.indexed?.derivative
    const smaller = entry?.state === 'stored' ? entry.record.smaller : undefined
    const source = { clientId: client.id, original: found.name.key, derivative: key, isHeld, smaller, asset }
    noteDelivered(source)
    return { ...known, stored: source }
  }

  /** Counts and notes the delivery of a stored file. */
  function noteDelivered({ clientId, original: key, derivative, isHeld, isNamed }: StoredSource): void {
    if (derivative === undefined) return
    uses.note({ clientId, key }, derivative, { isHeld })
    if (isNamed) return
    metrics.derivativeLookedUp('hit')
    usage.cacheHit(clientId)
  }

  /** The same as {@link loadOrRender}, with notes: also those of an original that is found to be truncated only now. */
  async function withNotes(wanted: Wanted, request: RenderRequest): Promise<Found & Pick<Delivery, 'notes'>> {
    try {
      const derivative = await loadOrRender(wanted, request)
      return { ...derivative, notes: [...wanted.plan.notes, ...sourceNotes(wanted.found.record)] }
    } catch (error) {
      const marked = await findLateTruncation(request.client, wanted.found, error)
      if (!marked) throw error
      return withNotes({ ...wanted, found: marked }, request)
    }
  }

  return {
    plan: filePlans.plan,
    planFor: filePlans.planFor,

    async begin({ client, caller, query, original }) {
      const input = inputOf({ client, query, format: original.format, preferences: {} })
      if (!runsAsJob(plan(input))) return undefined
      const found = await originals.resolve(client, { full: original })
      if (!found) throw fileNotFound()
      const planned = plan(withFocalPointOf(found.record, input))
      if (await stored(client, found, derivativeKey(original.key, planned.variant)))
        return { state: 'done', attempts: 0, progress: 1 }
      const isHeld = caller.isTrusted
      return media.begin({ client, caller, original: found, plan: planned, query, preferences: {}, isHeld })
    },

    async deliver(request) {
      const { client, isOneFile = false } = request
      const { found, plan: planned, input, key, named } = await filePlans.find(request)
      checkNamed(planned, request)
      if (!request.isSigned && !request.caller.isTrusted) checkNamedPublic(planned, client)
      const { variesBy, notes, caching } = planned
      if (named) {
        if (key !== undefined) throw transformOfDerivative()
        return namedDerivative(client, found, named)
      }
      if (key === undefined) return { ...(await original(client, found)), variesBy, notes, caching }
      const mustRedirect = partsPrefix(key) !== undefined
      if (mustRedirect && isOneFile) throw severalFiles()
      return orUnmodified(
        { planned, onLimit },
        async () => {
          const derivative = await withNotes({ found, plan: planned, input, key }, request)
          return { ...derivative, variesBy, caching, ...(mustRedirect ? { mustRedirect } : {}) }
        },
        async () => ({ ...(await original(client, found)), variesBy }),
      )
    },

    async object({ client, path }) {
      const { full } = parsePath(path)
      if (!full) throw fileNotFound()
      const { variant, ...name } = full
      const named = variant === undefined ? undefined : namedFile(name, variant)
      const found = await originals.findToRead(client, name, named?.derivative)
      if (!found) throw fileNotFound()
      scans.check(client, found.record)
      if (named) return namedDerivative(client, found, named)
      return { ...(await original(client, found)), ...UNTRANSFORMED }
    },

    noteRepeated: noteDelivered,
  }
}

const UNTRANSFORMED = { variesBy: [], notes: [] }
