import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import sharp from 'sharp'
import { importSource } from '../../ready/sources.js'
import { startSluice } from '../sluice.js'

const APP_SECRET = 'the-app-secret-of-the-bench-which-nothing-else-uses'
// So many calls at a time share a write to the disk, or a packet to Redis.
const AT_ONCE = 500

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
  const { server, records } = await start({ uploads: [picture] })
  await server.stop()
  const [{ s3Path: key }] = records
  const found = readdirSync(data, { recursive: true }).find((path) => path.endsWith(key))
  const bucket = join(data, found.slice(0, -key.length))
  const bytes = readFileSync(picture)
  return {
    start,
    picture,
    /** Opens the index. No server may run. */
    openIndex: () => (redis ? redisIndexAt(redis.url) : embeddedIndexIn(join(data, 'index'))),
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

async function embeddedIndexIn(folder) {
  const { embeddedIndex } = await importSource('adapters/file-index/embedded/embedded.ts')
  return embeddedIndex(folder)
}

async function redisIndexAt(url) {
  const { connectKeyspaces } = await importSource('adapters/redis/keyspaces.ts')
  const { redisIndex } = await importSource('adapters/file-index/redis/redis.ts')
  const { clusterIndex } = await importSource('adapters/file-index/partitioned/redis-cluster.ts')
  const places = connectKeyspaces({ url })
  await places.ready()
  const [{ redis, keyPrefix }] = places.all
  const perClient = places.all.length
  const index = perClient > 1 ? clusterIndex(places.all, { perClient }) : redisIndex(redis, { keyPrefix })
  return { ...index, close: () => places.close() }
}

function sizeOf(folder) {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}

// Each folder has a hundredth of the files, but this one has always as many.
const FOLDERS = 100
export const SMALL_FOLDER = 'small'
const IN_SMALL_FOLDER = 10
/** One file in a thousand has this word in its name. */
export const RARE_WORD = 'contract'

/**
 * Adds originals to the index until it has `files`, through the adapter of the service. Only some of them are stored in
 * the bucket too.
 *
 * @returns {Promise<string[]>} the keys of those, at most `samples`, spread over all
 */
export async function fill(storage, { files, samples }) {
  const { newOriginal, newFileId } = await importSource('core/files/object-key.ts')
  const { knownFormat } = await importSource('core/media/formats.ts')
  const format = knownFormat('jpeg')
  const index = await storage.openIndex()
  try {
    const [{ ref, original }] = await firstOf(index.list())
    const folderOf = (i) => (i < IN_SMALL_FOLDER ? SMALL_FOLDER : `folder-${i % FOLDERS}/2026`)
    const recordOf = (i) => ({
      ...original.record,
      key: newOriginal({ folder: folderOf(i), format, id: newFileId() }).key,
      originalName: `${i % 1000 === 0 ? RARE_WORD : 'photo'} 2026-11-${10 + (i % 20)} ${i}.jpg`,
      sha256: i.toString(16).padStart(64, '0'),
      storedAt: original.record.storedAt + i,
    })
    const every = Math.max(1, Math.floor(files / samples))
    const sampled = []
    for (let from = 1; from < files; from += AT_ONCE) {
      const records = Array.from({ length: Math.min(AT_ONCE, files - from) }, (_, i) => recordOf(from + i))
      await Promise.all(records.map((record) => index.adopt(ref.clientId, record)))
      const chosen = records.filter((_, i) => (from + i) % every === 0)
      sampled.push(...chosen.map(({ key }) => key))
    }
    for (const key of sampled) storage.store(key)
    // Without these, the service would compare the index with the bucket, where most of the files are missing.
    await index.markComplete()
    await index.noteCompared((await index.run()).id)
    return sampled
  } finally {
    await index.close()
  }
}

async function firstOf(items) {
  for await (const item of items) return [item]
  return []
}
