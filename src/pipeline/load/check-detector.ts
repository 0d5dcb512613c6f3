import type { DetectorPlugin } from '../../core/plugin-api/detector.ts'
import type { Engine, EngineName } from '../../core/plugin-api/plugin.ts'
import { checkMembers, isRecord, isVersion } from './check-record.ts'
import { PluginError } from './plugin-error.ts'

/**
 * Checks that the export of a module is a detector plugin.
 * @throws PluginError naming the file and what was expected
 */
export function checkDetector(
  file: string,
  candidate: object,
  engines: ReadonlyMap<EngineName, Engine>,
): DetectorPlugin {
  if ('transform' in candidate) {
    throw new PluginError(file, 'expected detect or transform but it has both: split it into two plugins')
  }
  checkMembers(file, candidate, DETECTOR_MEMBERS, 'a plugin with "detect"')
  const { engine, version, options, detect } = candidate as Partial<Record<keyof DetectorPlugin, unknown>>
  const expect = (fits: boolean, expectation: string) => {
    if (!fits) throw new PluginError(file, `expected ${expectation}`)
  }
  const names = [...engines.keys()]
  expect(names.includes(engine as EngineName), `one of ${names.join(', ')} for engine`)
  expect(typeof detect === 'function', 'a function for detect')
  expect(isVersion(version), 'an integer from 1 for version')
  expect(options === undefined || isRecord(options), 'an object for options')
  return candidate as DetectorPlugin
}

const DETECTOR_MEMBERS = Object.keys({
  name: true,
  engine: true,
  version: true,
  options: true,
  detect: true,
} satisfies Record<keyof DetectorPlugin, true>)
