import { bullmqJobs } from '../../../src/adapters/jobs/bullmq.ts'
import { embeddedJobs } from '../../../src/adapters/jobs/embedded.ts'
import { connectRedis } from '../../../src/adapters/redis/connection.ts'
import { recordLog } from '../texts/recorded-log.ts'

// A process that does jobs of the kind "make" and prints their outcomes, or adds jobs without end, depending on
// its environment. SIGTERM stops it.
const { FOLDER, REDIS_URL = '', KEY_PREFIX = '', TAKE_OVER_MS, ATTEMPTS, ADD } = process.env
const log = recordLog()
const say = (...words: unknown[]) => process.stdout.write(`${words.join(' ')}\n`)

const redis = FOLDER ? undefined : connectRedis({ url: REDIS_URL, log })
const jobs = redis
  ? bullmqJobs({ redis, keyPrefix: KEY_PREFIX, log, takeOverMs: Number(TAKE_OVER_MS) })
  : await embeddedJobs({ folder: FOLDER ?? '', log })

process.once('SIGTERM', async () => {
  await jobs.close({ graceMs: 200 })
  await redis?.close()
  say('closed')
})

if (ADD) {
  for (let i = 0; ; i += 1) {
    await jobs.enqueue({ kind: 'make', id: `job ${i}`, data: null })
    say('added', i)
  }
}
jobs.work<{ ms: number }>(
  'make',
  async ({ id, data, attempt }, { signal, progress }) => {
    say('begin', id, attempt)
    progress(0.5)
    await new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, data.ms)
      signal.addEventListener('abort', () => {
        say('aborted', id)
        clearTimeout(timer)
        reject(signal.reason)
      })
    })
    say('end', id, attempt)
  },
  { concurrency: 2, limitMs: 60_000, attempts: Number(ATTEMPTS ?? 3), retryMs: 20, retryMaxMs: 100 },
)
say('ready')
