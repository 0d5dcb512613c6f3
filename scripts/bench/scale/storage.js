import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import sharp from 'sharp'
import { importSource } from '../../ready/sources.js'
import { startSluice } from '../sluice.js'
import { fileMaker } from './fill.js'
import { isComparing } from './requests.js'

const POLL_MS = 50
const YOUNG_MB = 256
export const APP_SECRET = 'the-app-secret-of-the-bench-which-nothing-else-uses'

/**
 * A data folder with one uploaded picture, and its index while no server runs.
 *
 * @param {{folder: string, photo: string, redis?: object}} options `folder` is empty; `redis` as in redis.js, an embedded
 *   index without it
 */
export async function newStorage({ folder, photo, redis }) {
  const picture = join(folder, 'picture.jpg')
  await sharp(photo).resize(400).jpeg().toFile(picture)
  const data = join(folder, 'data')
  const backend = { DATA_DIR: data, ...(redis ? { REDIS_URL: redis.url, APP_SECRET, ...redis.env } : {}) }
  // Each server has a log of its own: its start is over when the log says so.
  const start = ({ uploads = [], env = {} } = {}) =>
    startSluice({ folder: mkdtempSync(join(folder, 'log-')), uploads, env: { ...backend, ...env } })
  /** Opens the index. Only in Redis, a server may run. */
  const openIndex = () => (redis ? redisIndexAt(redis.url) : embeddedIndexIn(join(data, 'index')))
  const { server, records } = await start({ uploads: [picture] })
  // A comparison that has begun would continue later, and remove the files that only the index has.
  if (redis) await compared(openIndex)
  while (await isComparing(server.url)) await sleep(POLL_MS)
  await server.stop()
  const [{ s3Path: key }] = records
  const found = readdirSync(data, { recursive: true }).find((path) => path.endsWith(key))
  const bucket = join(data, found.slice(0, -key.length))
  const bytes = readFileSync(picture)
  return {
    start,
    picture,
    openIndex,
    /** Stores the picture in the bucket, with no record. */
    store(name) {
      const path = join(bucket, name)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, bytes)
    },
    /** The bytes of the index: in memory for Redis, else on the disk. */
    indexBytes: async () => (redis ? (await redis.usage()).memory : sizeOf(join(data, 'index'))),
  }
}

async function compared(openIndex) {
  const index = await openIndex()
  try {
    while (!(await index.run()).isCompared) await sleep(POLL_MS)
  } finally {
    await index.close()
  }
}

// So many files share a write to the disk.
const AT_ONCE = 1000

/** @returns the index with `addAll({ clientId, ...options })`: the options of `fileMaker` in fill.js. It returns the sampled keys */
async function embeddedIndexIn(folder) {
  const { embeddedIndex } = await importSource('adapters/file-index/embedded/embedded.ts')
  const index = await embeddedIndex(folder)
  const addAll = async ({ clientId, ...options }) => {
    const { idOf, fileOf, sampled } = await fileMaker(options)
    const { files } = options
    for (let from = 1; from <= files; from += AT_ONCE) {
      const numbers = Array.from({ length: Math.min(AT_ONCE, files + 1 - from) }, (_, i) => from + i)
      await Promise.all(
        numbers.map((i) => {
          const { record, recordTag } = fileOf(i, idOf())
          return index.adopt(clientId, record, undefined, recordTag)
        }),
      )
    }
    return sampled
  }
  return { ...index, addAll }
}

/** The index in Redis, with `addAll` as {@link embeddedIndexIn}. */
export async function redisIndexAt(url) {
  const { connectKeyspaces } = await importSource('adapters/redis/keyspaces.ts')
  const { redisIndex } = await importSource('adapters/file-index/redis/redis.ts')
  const { clusterIndex } = await importSource('adapters/file-index/partitioned/redis-cluster.ts')
  const places = connectKeyspaces({ url })
  await places.ready()
  const [{ redis, keyPrefix }] = places.all
  const perClient = places.all.length
  const index =
    perClient > 1 ? clusterIndex(places.all, { perClient }).index : redisIndex(redis, { keyPrefix })
  /** In a cluster, several processes share the partitions. */
  const addAll = async (options) => {
    const turns = perClient > 1 ? availableParallelism() : 1
    const sampled = await Promise.all(
      Array.from({ length: turns }, async (_, turn) => {
        const worker = new Worker(new URL('fill-worker.js', import.meta.url), {
          workerData: { url, turn, turns, ...options },
          // The members of lists live until their partition is written.
          resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
        })
        const [keys] = await once(worker, 'message')
        return keys
      }),
    )
    return sampled.flat()
  }
  return { ...index, addAll, close: () => places.close() }
}

function sizeOf(folder) {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}
