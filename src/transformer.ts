import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngines } from './engines/engines.ts'
import { imageInspector } from './engines/image/inspector.ts'
import { reduce } from './engines/image/smaller-copies/reduce.ts'
import { type ChainSettings, loadPlugins } from './pipeline/load/load.ts'
import type { PluginFolder } from './pipeline/load/plugin-files.ts'
import { internalPlugin } from './pipeline/run/copy-plans.ts'
import { informedRunner } from './pipeline/run/info-plan.ts'
import { runInChild } from './pipeline/run/remote-runner.ts'
import { createRunner } from './pipeline/run/run.ts'
import { workForParent } from './process/child-pool/child.ts'

/** The setup message from the parent: the sources from which the parent has loaded its own plugins. */
export interface TransformerSetup {
  folders: readonly PluginFolder[]
  chain: ChainSettings
  /** The complete environment of programs that decode images. */
  env: Readonly<Record<string, string>>
  maxMemoryBytes: number
}

// Transforms images in a process that can be killed. `assembly/transforms.ts` starts it.
workForParent(async (setup) => {
  const { folders, chain, env, maxMemoryBytes } = setup as TransformerSetup
  // Steps of ffmpeg and LibreOffice run in the parent, which can kill these programs. Their plugins are loaded all the same.
  const { engines, ffmpeg } = createEngines({ folder: join(tmpdir(), 'sluice-media'), env })
  const plugins = await loadPlugins({ folders, engines, chain })
  const run = informedRunner(createRunner(engines), { images: imageInspector, media: ffmpeg })
  const transforms = [...plugins.transforms, internalPlugin(reduce)]
  return { work: runInChild(run, { ...plugins, transforms }), maxMemoryBytes }
})
