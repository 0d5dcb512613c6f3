import { join } from 'node:path'
import type { Log } from '../../../src/core/log.ts'
import { createPool, type Pool, type PoolOptions } from '../../../src/process/child-pool/pool.ts'
import type { TransformerSetup } from '../../../src/transformer.ts'
import { atEnd } from '../servers/at-end.ts'
import { builtTransformer } from './built-script.ts'

/** The child processes of one choice of settings. */
interface Shared {
  /** Opened with the first task. */
  pool?: Pool
  open(): Promise<Pool>
  /** The logs of the running services that use it. */
  logs: Set<Log>
}

const pools = new Map<string, Shared>()
// The pool without a service. It is retained for the next service with the same settings.
let idleName: string | undefined

/**
 * Opens the child processes of a service. Services of one test process share those with equal settings, also one after the
 * other. Children run a bundle without tsx: a start from the sources takes 1.2 s of CPU time instead of 0.4 s, and 50 MB more.
 * The end of a service kills only children that work for it.
 */
export function openSharedPool(options: PoolOptions): Pool {
  const { log, ...settings } = options
  const name = JSON.stringify(settings)
  const shared = pools.get(name) ?? newShared(options)
  pools.set(name, shared)
  shared.logs.add(log)
  if (idleName === name) idleName = undefined
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()
  return {
    async run(task) {
      closing.signal.throwIfAborted()
      const signal = AbortSignal.any([task.signal, closing.signal])
      const work = shared.open().then((pool) => pool.run({ ...task, signal }))
      const ended = work.catch(() => {}).finally(() => running.delete(ended))
      running.add(ended)
      return work
    },
    pids: () => shared.pool?.pids() ?? [],
    async close() {
      closing.abort(new Error('the pool is closed'))
      await Promise.all(running)
      if (!shared.logs.delete(log) || shared.logs.size > 0) return
      const former = idleName
      idleName = name
      if (former !== undefined) await close(former)
    },
  }
}

function newShared(options: PoolOptions): Shared {
  const logs = new Set<Log>()
  const toAll =
    (level: keyof Log): Log[keyof Log] =>
    (fields, message) => {
      for (const log of logs) log[level](fields, message)
    }
  const log = { debug: toAll('debug'), info: toAll('info'), warn: toAll('warn'), error: toAll('error') }
  let opening: Promise<Pool> | undefined
  const shared: Shared = {
    logs,
    open() {
      opening ??= bundledOptions(options).then((bundled) => {
        shared.pool = createPool({ ...bundled, log })
        return shared.pool
      })
      return opening
    },
  }
  return shared
}

/** Options whose children run a bundle of the sources, unless their coverage is measured. */
async function bundledOptions(options: PoolOptions): Promise<PoolOptions> {
  if (process.env.NODE_V8_COVERAGE || !options.script.endsWith('.ts')) return options
  const folder = await builtTransformer()
  const setup = options.setup as TransformerSetup
  const folders = setup.folders.map((one) =>
    one.shipped ? { ...one, path: join(folder, 'plugins'), extension: '.js' } : one,
  )
  // Without tsx.
  const execArgv: string[] = []
  return { ...options, execArgv, script: join(folder, 'src', 'transformer.js'), setup: { ...setup, folders } }
}

async function close(name: string): Promise<void> {
  const { pool } = pools.get(name) ?? {}
  pools.delete(name)
  await pool?.close()
}

atEnd(async () => {
  if (idleName !== undefined) await close(idleName)
})
