import type { Finding } from '../../core/checkup.ts'
import { joinedMessages } from '../../core/log-reason.ts'
import type { LoadedScanner } from '../../pipeline/load/load.ts'

const TIMEOUT_MS = 10_000
const ADVICE =
  'Start the scanner, or correct the options of its plugin. Until then, new files are not delivered.'

/** Checks whether the malware scanner responds. */
export async function checkScanner({ plugin, options }: LoadedScanner): Promise<Finding[]> {
  const { name } = plugin
  if (!plugin.check) return [{ state: 'ok', found: `${name} is installed. It has no check` }]
  try {
    await plugin.check(options, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    return [{ state: 'ok', found: `${name} responds` }]
  } catch (error) {
    return [{ state: 'problem', found: `${name}: ${joinedMessages(error)}`, advice: ADVICE }]
  }
}
