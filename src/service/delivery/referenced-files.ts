import type { Asset } from '../../core/bytes/asset.ts'
import type { Client } from '../../core/clients/client.ts'
import { parsePath } from '../../core/files/request-path.ts'
import type { EngineContext } from '../../core/plugin-api/plugin.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import { assetNotFound } from '../../core/problem.ts'
import type { Plan } from '../../pipeline/plan/plan.ts'
import { namedFiles } from '../../pipeline/plan/referenced-files.ts'
import { bytesToTransform } from '../derivatives/original-bytes.ts'
import { sourceFacts } from '../derivatives/source-facts.ts'
import type { Originals } from '../originals/originals.ts'
import type { ScanQueue } from '../scans/scan-queue.ts'

/** Finds the files that a plan's parameters of type `key` name, for example watermarks. */
export interface Assets {
  /**
   * Finds all of them before the work begins, since another process may run it. Only files of this client are found.
   * @returns a function that returns each file by its key
   * @throws Problem 404 that names the parameter, 423 and 403 of their malware scans, 503
   */
  of(client: Client, plan: Plan): Promise<EngineContext['asset']>
}

export function createAssets({
  originals,
  buckets,
  scans,
}: {
  originals: Originals
  buckets: Buckets
  scans: Pick<ScanQueue, 'check'>
}): Assets {
  async function find(client: Client, key: string): Promise<Asset | undefined> {
    const found = await originals.resolveToRead(client, parsePath(key))
    if (found) scans.check(client, found.record)
    const asset = found && (await bytesToTransform(buckets.of(client), found.record))
    return asset && { ...asset, ...sourceFacts(found.record) }
  }

  return {
    async of(client, plan) {
      const assets = new Map<string, Asset>()
      for (const { param, key } of namedFiles(plan.steps)) {
        const asset = await find(client, key)
        if (!asset) throw assetNotFound(param, key)
        assets.set(key, asset)
      }
      return async (key) => {
        const found = assets.get(key)
        if (!found) throw new Error(`no parameter of type key refers to ${key}`)
        return found
      }
    },
  }
}
