import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { loadChain } from '../../config/chain.ts'
import { type DescribedParameters, describeParameters } from '../core/plugin-api/describe-parameters.ts'
import { createAudioEngine } from '../engines/audio/audio.ts'
import { sharpEngine } from '../engines/image/sharp.ts'
import { createOffice } from '../engines/office/office.ts'
import { createFfmpeg } from '../engines/video/ffmpeg.ts'
import { loadPlugins } from '../pipeline/load/load.ts'

/** The parameters of delivery URLs of a service without drop-in plugins. @param root the project's folder */
export async function shippedParameters(root: string): Promise<DescribedParameters> {
  const programs = { folder: tmpdir(), env: {} }
  const engines = [sharpEngine, createFfmpeg(programs), createAudioEngine(programs), createOffice(programs)]
  const plugins = await loadPlugins({
    folders: [
      {
        path: join(import.meta.dirname, '..', '..', 'plugins'),
        extension: extname(import.meta.filename),
        shipped: true,
      },
    ],
    engines: new Map(engines.map((engine) => [engine.name, engine])),
    // The operator's chain also has settings of plugins in PLUGINS_DIR, which a build does not know.
    chain: await loadChain(join(root, 'config', 'chain.json')),
    partial: true,
  })
  return describeParameters(plugins.transforms)
}
