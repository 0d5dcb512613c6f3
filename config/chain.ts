import { z } from 'zod'
import { readJsonFile } from './json-file.ts'
import type { Config } from './load.ts'

const chainFile = z.strictObject({
  /**
   * Names of plugins in the order in which they run. Plugins that are not listed run in the order of phase and name.
   */
  order: z.array(z.string()).default([]),
  disabled: z.array(z.string()).default([]),
  /** Options by plugin. */
  options: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
  /** Names in a query that are ignored: they belong to other programs. */
  ignoredParams: z.array(z.string()).default([]),
  /** The response when a transformation exceeds a limit: an error, or the original. */
  onLimit: z.enum(['refuse', 'original']).default('refuse'),
})

export type Chain = z.infer<typeof chainFile>

/** Returns the chain with the plugin options of the environment, which override `chain.json`. */
export function withEnvironment(chain: Chain, config: Config): Chain {
  const given = {
    url: config.WEBHOOK_URL,
    secret: config.WEBHOOK_SECRET,
    events: config.WEBHOOK_EVENTS,
    allowAddresses: config.WEBHOOK_ALLOW_ADDRESSES,
  }
  const set = Object.entries(given).filter(([, value]) => value !== undefined)
  if (set.length === 0) return chain
  const webhook = { ...chain.options.webhook, ...Object.fromEntries(set) }
  return { ...chain, options: { ...chain.options, webhook } }
}

/**
 * Reads `chain.json`; a missing file has the defaults.
 *
 * @throws Error with the file's name and the invalid keys
 */
export async function loadChain(file: string): Promise<Chain> {
  return readJsonFile(file, chainFile)
}
