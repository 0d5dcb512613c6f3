import type { Config } from '../../../config/load.ts'
import type { Log } from '../../core/log.ts'
import { createDeliverForeign } from '../../service/foreign/deliver.ts'
import { createListForeign } from '../../service/foreign/list.ts'
import { createFindForeign } from '../../service/foreign/objects.ts'
import { createDeriveForeign } from '../../service/foreign/render.ts'
import type { Loaded } from '../plugins.ts'
import type { Services } from '../services.ts'
import type { Transformations } from '../transforms.ts'

/** The services for objects of other systems. */
export function openForeign(
  { backends, allObjects: buckets, isForeign }: Services,
  {
    config,
    log,
    loaded,
    transformations,
  }: { config: Config; log: Log; loaded: Loaded; transformations: Transformations },
) {
  const { FOREIGN_PREFIXES: prefixes = [], VARIANT_LIMIT: variantLimit } = config
  const { assets, limits, plan, run } = transformations
  const find = createFindForeign({ buckets, isForeign })
  const { spool } = loaded
  const derive = createDeriveForeign({
    find,
    buckets,
    locks: backends.locks,
    spool,
    assets,
    run,
    limits,
    variantLimit,
    log,
  })
  return {
    deliverForeign: createDeliverForeign({ find, derive, plan, onLimit: loaded.chain.onLimit }),
    listForeign: createListForeign({ buckets, isForeign, prefixes }),
  }
}
