import { setTimeout as pause } from 'node:timers/promises'
import { transformerEnvironment } from '../../../config/programs.ts'
import { assetFromBytes } from '../../../src/core/bytes/asset.ts'
import { createPool } from '../../../src/process/child-pool/pool.ts'
import { recordLog } from '../texts/recorded-log.ts'

// A process with two children of this script, one at work and one at rest. It prints their process ids and waits until it is killed.
const [script = '', deed] = process.argv.slice(2)
const log = recordLog()
const setup = { maxMemoryBytes: 1e9 }
const pool = createPool({
  script,
  setup,
  env: transformerEnvironment(),
  most: 2,
  maxMemoryBytes: 1e9,
  log,
})
const source = assetFromBytes(Buffer.from(''), { mediaType: 'text/plain', lastModified: new Date() })
const asset = async () => source
const signal = new AbortController().signal
const run = (task: object) => pool.run({ task, source, asset, signal, timeoutMs: 600_000, log })
const sleeping = run({ do: deed })
await run({ do: 'pid' })
// The sleeper may receive its task later than the other child responds.
await pause(200)
process.stdout.write(`${JSON.stringify(pool.pids())}\n`)
await sleeping
