import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import type { Config } from './load.ts'

const chainFile = z.strictObject({
  /** Names of plugins in the order they shall run; the others stay where phase and name put them. */
  order: z.array(z.string()).default([]),
  disabled: z.array(z.string()).default([]),
  /** Options by plugin. */
  options: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
  /** Names in a query that are no parameters and are passed over. */
  ignoredParams: z.array(z.string()).default([]),
})

export type Chain = z.infer<typeof chainFile>

/** The chain with what the environment says of plugins, which wins over `chain.json`. */
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
 * Reads `chain.json`; a missing one says nothing.
 *
 * @throws Error with the file's name, and the keys that are wrong
 */
export async function loadChain(file: string): Promise<Chain> {
  try {
    return chainFile.parse(JSON.parse(await textOf(file)))
  } catch (cause) {
    const reasons = cause instanceof z.ZodError ? cause.issues.map(explained) : [(cause as Error).message]
    throw new Error(reasons.map((reason) => `${file}: ${reason}`).join('\n'), { cause })
  }
}

async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}'
    throw error
  })
}

function explained({ path, message }: z.core.$ZodIssue): string {
  return path.length > 0 ? `${z.core.toDotPath(path)}: ${message}` : message
}
