import { type Config, ConfigError, loadConfig } from '../../../config/load.ts'
import { configWarnings } from '../../../config/warnings.ts'
import type { Finding } from '../../core/checkup.ts'
import { counted } from '../../core/text/plural.ts'
import type { PluginSet } from '../../pipeline/load/load.ts'
import { loadEverything } from '../plugins.ts'

const OLDEST = [20, 19] as const
// The first one that receives security updates after April 2026.
const MAINTAINED = 22

/** Checks the version of Node. @param version `24.1.0` */
export function checkNode(version: string): Finding[] {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const found = `version ${version}`
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]))
    return [
      { state: 'problem', found, advice: `Install Node ${OLDEST.join('.')} or later, at best Node 24.` },
    ]
  if (major < MAINTAINED)
    return [
      {
        state: 'warning',
        found,
        advice: `Node ${major} receives no more security updates. Install Node 24.`,
      },
    ]
  return [{ state: 'ok', found }]
}

/**
 * Checks the variables, the plugins, `chain.json` and `presets.json`.
 *
 * @returns also the configuration; undefined when the service would not start with it
 */
export async function checkConfiguration({
  environment,
  root,
}: {
  environment: Readonly<Record<string, string | undefined>> | undefined
  root: string
}): Promise<{ config?: Config; plugins: PluginSet; findings: Finding[] }> {
  try {
    const config = loadConfig(environment)
    const { plugins } = await loadEverything({ config, root })
    const warnings = configWarnings(environment).map(
      (found): Finding => ({ state: 'warning', found, advice: 'Correct or remove the variable.' }),
    )
    const loaded = counted(
      plugins.transforms.length + plugins.events.length + (plugins.scanner ? 1 : 0),
      'plugin',
    )
    return { config, plugins, findings: [{ state: 'ok', found: `valid, with ${loaded}` }, ...warnings] }
  } catch (error) {
    const { message } = error as Error
    const isOfVariables = error instanceof ConfigError
    const advice = isOfVariables
      ? 'Correct the variables. All of them are in docs/reference/configuration.md.'
      : 'Correct or remove the named file.'
    const plugins = { transforms: [], events: [] }
    return { plugins, findings: [{ state: 'problem', found: message.replaceAll('\n', '; '), advice }] }
  }
}
