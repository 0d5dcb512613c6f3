import { programEnvironment } from '../../../config/programs.ts'
import { readAll } from '../../../src/core/bytes/asset.ts'
import { formatOfMediaType } from '../../../src/core/media/formats.ts'
import type { EngineContext } from '../../../src/core/plugin-api/plugin.ts'
import { createFfmpeg } from '../../../src/engines/video/ffmpeg.ts'
import { createPlanner } from '../../../src/pipeline/plan/plan.ts'
import { createRunner } from '../../../src/pipeline/run/run.ts'
import { context } from '../image/transform.ts'
import { loadWith } from '../load/drop-ins.ts'
import { knownAsset } from './known-asset.ts'

/** Plans and runs a transformation of a video in memory, as the service would. It leaves no temporary file. */
export type MakeVideo = (
  bytes: Uint8Array,
  query: string,
  given?: Partial<EngineContext> & { format?: string },
) => Promise<{ bytes: Buffer; mediaType: string }>

/** @param folder of temporary files */
export async function videoMaker(folder: string): Promise<MakeVideo> {
  const run = createRunner(new Map([['ffmpeg', createFfmpeg({ folder, env: programEnvironment() })]]))
  const plan = createPlanner((await loadWith({})).transforms, [])
  return async (bytes, query, { format = 'mp4', ...given } = {}) => {
    const leftovers: Array<() => Promise<void>> = []
    const asset = knownAsset(bytes, format)
    const planned = plan({
      query: new URLSearchParams(query),
      format: formatOfMediaType(asset.mediaType),
      preferences: {},
    })
    const afterwards = (remove: () => Promise<void>) => void leftovers.push(remove)
    try {
      const rendered = await run(planned, asset, context({ ...given, afterwards }))
      const outcome = await readAll(rendered)
      if (outcome.length !== rendered.size)
        throw new Error(`the asset says ${rendered.size} bytes and has ${outcome.length}`)
      return { bytes: outcome, mediaType: rendered.mediaType }
    } finally {
      for (const remove of leftovers) await remove()
    }
  }
}
