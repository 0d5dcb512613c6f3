import { z } from 'zod'
import type { ScannerPlugin } from '../../core/plugin-api/scanner.ts'
import { checkRecord, MEMBER } from './check-record.ts'

/**
 * Checks that the export of a module is a scanner plugin.
 * @throws PluginError naming the file and what was expected
 */
export function checkScanner(file: string, candidate: object): ScannerPlugin {
  const schema = z.strictObject({
    name: MEMBER.unchecked,
    api: MEMBER.api,
    atOnce: MEMBER.atOnce,
    options: MEMBER.options,
    check: MEMBER.optionalFunction,
    scan: MEMBER.function,
  } satisfies Record<keyof ScannerPlugin, z.ZodType>)
  checkRecord(file, candidate, { schema, what: 'a plugin with "scan"' })
  return candidate as ScannerPlugin
}
