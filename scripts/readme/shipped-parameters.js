import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadChain } from '../../config/chain.ts'
import { describeParameters } from '../../src/core/plugin-api/describe-parameters.ts'
import { createAudioEngine } from '../../src/engines/audio/audio.ts'
import { sharpEngine } from '../../src/engines/image/sharp.ts'
import { createFfmpeg } from '../../src/engines/video/ffmpeg.ts'
import { loadPlugins } from '../../src/pipeline/load/load.ts'
import { root } from '../ready/run.js'

/** The parameters of the plugins that Sluice comes with, by media group. */
export async function shippedParameters() {
  const programs = { folder: tmpdir(), env: {} }
  const plugins = await loadPlugins({
    folders: [{ path: join(root, 'plugins'), extension: '.ts', shipped: true }],
    engines: new Map(
      [sharpEngine, createFfmpeg(programs), createAudioEngine(programs)].map((engine) => [
        engine.name,
        engine,
      ]),
    ),
    chain: await loadChain(join(root, 'config', 'chain.json')),
  })
  return describeParameters(plugins.transforms)
}
