import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { transformerEnvironment } from '../../../config/programs.ts'
import { assetFromBytes } from '../../../src/core/bytes/asset.ts'
import { createPool } from '../../../src/process/child-pool/pool.ts'
import { keptLog } from '../service.ts'

// A process with two children, one busy and one idle, which prints their PIDs and waits for its end.
const log = keptLog()
const setup = { maxMemoryBytes: 1e9 }
const pool = createPool({
  script: join(import.meta.dirname, 'apart-worker.ts'),
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
const sleeping = run({ do: process.argv[2] })
await run({ do: 'pid' })
// The sleeper begins when its process gets the message, which may be after the response of the other one.
await pause(200)
process.stdout.write(`${JSON.stringify(pool.pids())}\n`)
await sleeping
