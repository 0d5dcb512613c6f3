import { guardedFetcher } from '../../adapters/fetcher/guarded.ts'
import type { Finding } from '../../core/checkup.ts'
import type { Log } from '../../core/log.ts'
import { joinedMessages } from '../../core/log-reason.ts'
import type { PluginSet } from '../../pipeline/load/load.ts'
import { createTestReceivers } from '../../service/events/test-receivers.ts'

/** The name of the plugin that purges CDNs. */
const PLUGIN = 'cdn-purge'
const ADVICE = 'Correct CDN_PURGE_ID and CDN_PURGE_TOKEN, or the URL of the purge: see docs/how-to/cdn.md.'

/** Checks whether the CDN accepts a purge, by that of a tag that no file has. */
export async function checkPurge({ events }: Pick<PluginSet, 'events'>): Promise<Finding[]> {
  const plugins = events.filter(({ plugin }) => plugin.name === PLUGIN)
  const fetcher = guardedFetcher()
  for (const { plugin, options } of plugins) {
    const found = await plugin.check?.(options, fetcher).then(() => undefined, joinedMessages)
    if (found !== undefined) return [{ state: 'problem', found, advice: ADVICE }]
  }
  const test = createTestReceivers({ plugins, fetcher, log: SILENT })
  const { receivers } = await test({ clientId: undefined, signal: new AbortController().signal })
  return receivers.map(({ delivered, status, error = '' }): Finding => {
    if (delivered) return { state: 'ok', found: `accepted a purge of a tag that no file has (${status})` }
    return { state: 'problem', found: error, advice: ADVICE }
  })
}

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} }
