import { withLastModified } from '../../core/bytes/asset.ts'
import type { Caller } from '../../core/clients/caller.ts'
import type { Client } from '../../core/clients/client.ts'
import { cleanFileName } from '../../core/files/file-name.ts'
import { foreignDerivativeKey } from '../../core/foreign/foreign-path.ts'
import type { MediaGroup } from '../../core/media/groups.ts'
import type { Preferences } from '../../core/media/preferences.ts'
import { fileNotFound, Problem } from '../../core/problem.ts'
import { type OnLimit, orUnmodified } from '../../pipeline/plan/or-unmodified.ts'
import type { PlanInput, Planner } from '../../pipeline/plan/plan.ts'
import { withFallback } from '../../pipeline/plan/with-fallback.ts'
import { type Delivery, newFormatOf } from '../delivery/deliveries.ts'
import { checkNamedPublic } from '../delivery/named-files.ts'
import type { FindForeign } from './objects.ts'
import type { DeriveForeign } from './render.ts'

/** A request for a foreign object. */
export interface ForeignRequest {
  client: Client
  caller: Caller
  /** The media group in the URL. An object of another group is not found. */
  group: MediaGroup
  /** The path of the object. Decoded once, not validated yet. */
  path: string
  query: PlanInput['query']
  preferences: Preferences
  /** Whether the URL is signed. Without a signature, parameters may not name private files. */
  isSigned: boolean
  /** Called before a new derivative is rendered. Its error is the response. */
  beforeRender: () => Promise<void>
  signal: AbortSignal
}

/** A foreign object to send, transformed or unmodified. */
export type ForeignDelivery = Omit<Delivery, 'key'> & { etag: string }

/** Delivers foreign objects. @throws Problem 400, 403, 404, 422, 429, 503 */
export type DeliverForeign = (request: ForeignRequest) => Promise<ForeignDelivery>

export function createDeliverForeign({
  find,
  derive,
  plan,
  onLimit,
}: {
  find: FindForeign
  derive: DeriveForeign
  plan: Planner
  /** The response when a transformation exceeds a limit: an error, or the object. */
  onLimit: OnLimit
}): DeliverForeign {
  return async ({ client, group, path, query, preferences, isSigned, signal, ...request }) => {
    const object = await find(client, path, signal)
    const { format } = object.type
    if (format.group !== group) throw fileNotFound()
    const input: PlanInput = { query, format, preferences, rules: client.rules }
    const planned = plan(input)
    if (!isSigned) checkNamedPublic(planned, client)
    const { variesBy, notes } = planned
    const changedAt = object.asset.lastModified.getTime()
    const unmodified = {
      asset: object.asset,
      etag: `foreign/${object.version}`,
      originalName: cleanFileName(object.name),
      newFormat: undefined,
      variesBy,
      notes,
    }
    if (planned.steps.length === 0) return unmodified
    if (group !== 'image') throw onlyImages(group)
    const render = () =>
      withFallback(plan, { plan: planned, input }, async (current) => {
        const key = foreignDerivativeKey(object.key, object.version, current.variant)
        const asset = await derive({ ...request, client, object, plan: current, key, signal })
        return {
          ...unmodified,
          asset: withLastModified(asset, changedAt),
          etag: `${unmodified.etag}_${current.variant}`,
          newFormat: newFormatOf(asset, format),
          variesBy: current.variesBy,
          notes: current.notes,
        }
      })
    return orUnmodified({ planned, onLimit }, render, async () => unmodified)
  }
}

function onlyImages(group: MediaGroup): Problem {
  return new Problem({
    status: 400,
    code: 'only_pictures',
    detail: `Objects of other systems can only be transformed if they are images, but this one is of type ${group}. Import it first (sluice import).`,
  })
}
