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
  /** Query parameters to ignore: they belong to other programs. */
  ignoredParams: z.array(z.string()).default([]),
  /** The response when a transformation exceeds a limit: an error, or the original. */
  onLimit: z.enum(['refuse', 'original']).default('refuse'),
})

export type Chain = z.infer<typeof chainFile>

/** The chain with the options of plugins from the environment, which override `chain.json`. */
export function withEnvironment(chain: Chain, config: Config): Chain {
  const webhook = {
    url: config.WEBHOOK_URL,
    secret: config.WEBHOOK_SECRET,
    events: config.WEBHOOK_EVENTS,
    allowAddresses: config.WEBHOOK_ALLOW_ADDRESSES,
  }
  const purge = {
    cdn: config.CDN_PURGE,
    id: config.CDN_PURGE_ID,
    token: config.CDN_PURGE_TOKEN,
    url: config.CDN_PURGE_URL,
    method: config.CDN_PURGE_METHOD,
    headers: config.CDN_PURGE_HEADERS,
    allowAddresses: config.CDN_PURGE_ALLOW_ADDRESSES,
    tags: config.CDN_TAGS,
    baseUrl: config.BASE_URL,
  }
  const given = { webhook, ...(config.CDN_PURGE === 'off' ? {} : { 'cdn-purge': purge }) }
  const options = { ...chain.options }
  for (const [plugin, values] of Object.entries(given)) {
    const set = Object.entries(values).filter(([, value]) => value !== undefined)
    if (set.length > 0) options[plugin] = { ...options[plugin], ...Object.fromEntries(set) }
  }
  return { ...chain, options }
}

/**
 * Reads `chain.json`. A missing file means the defaults.
 *
 * @throws Error with the name of the file and every invalid key
 */
export async function loadChain(file: string): Promise<Chain> {
  return readJsonFile(file, chainFile)
}
