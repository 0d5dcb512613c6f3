import { z } from 'zod'
import type { DetectorPlugin } from '../../core/plugin-api/detector.ts'
import type { Engine, EngineName } from '../../core/plugin-api/plugin.ts'
import { checkRecord, MEMBER } from './check-record.ts'

/**
 * Checks that the export of a module is a detector plugin.
 * @throws PluginError naming the file and what was expected
 */
export function checkDetector(
  file: string,
  candidate: object,
  engines: ReadonlyMap<EngineName, Engine>,
): DetectorPlugin {
  const schema = z.strictObject({
    name: MEMBER.unchecked,
    api: MEMBER.api,
    engine: MEMBER.engine(engines),
    version: MEMBER.version,
    options: MEMBER.options,
    detect: MEMBER.function,
  } satisfies Record<keyof DetectorPlugin, z.ZodType>)
  checkRecord(file, candidate, { schema, what: 'a plugin with "detect"' })
  return candidate as DetectorPlugin
}
