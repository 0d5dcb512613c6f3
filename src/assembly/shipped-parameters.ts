import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadChain } from '../../config/chain.ts'
import { OWN_PLUGINS } from '../core/own-files.ts'
import { type DescribedParameters, describeParameters } from '../core/plugin-api/describe-parameters.ts'
import { createEngines } from '../engines/engines.ts'
import { loadPlugins } from '../pipeline/load/load.ts'

/** The parameters of delivery URLs of a service without drop-in plugins. @param root the project's folder */
export async function shippedParameters(root: string): Promise<DescribedParameters> {
  const plugins = await loadPlugins({
    folders: [OWN_PLUGINS],
    engines: createEngines({ folder: tmpdir(), env: {} }).engines,
    // The operator's chain also has settings of plugins in PLUGINS_DIR, which a build does not know.
    chain: await loadChain(join(root, 'config', 'chain.json')),
    partial: true,
  })
  return describeParameters(plugins.transforms)
}
