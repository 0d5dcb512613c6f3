import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import sharp from 'sharp'
import { importSource } from '../../ready/sources.js'
import { startSluice } from '../sluice.js'

const APP_SECRET = 'the-app-secret-of-the-bench-which-nothing-else-uses'

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

/** @returns the index with `adoptAll(clientId, files)`, where each file has a `record` and a `recordTag` */
async function embeddedIndexIn(folder) {
  const { embeddedIndex } = await importSource('adapters/file-index/embedded/embedded.ts')
  const index = await embeddedIndex(folder)
  const adoptAll = (clientId, files) =>
    Promise.all(files.map(({ record, recordTag }) => index.adopt(clientId, record, undefined, recordTag)))
  return { ...index, adoptAll }
}

async function redisIndexAt(url) {
  const { connectKeyspaces } = await importSource('adapters/redis/keyspaces.ts')
  const { redisIndex } = await importSource('adapters/file-index/redis/redis.ts')
  const { clusterIndex } = await importSource('adapters/file-index/partitioned/redis-cluster.ts')
  const places = connectKeyspaces({ url })
  await places.ready()
  const [{ redis, keyPrefix }] = places.all
  const perClient = places.all.length
  const index =
    perClient > 1 ? clusterIndex(places.all, { perClient }).index : redisIndex(redis, { keyPrefix })
  return { ...index, adoptAll: await adoptIn(places.all), close: () => places.close() }
}

/** Does what `adopt` of the index does to new files, but many files share a call: this takes half of the time. */
async function adoptIn(keyspaces) {
  const { step } = await importSource('adapters/file-index/redis/step.ts')
  const { keyNames } = await importSource('adapters/file-index/redis/keys.ts')
  const { packedListed } = await importSource('adapters/file-index/redis/entries/originals.ts')
  const { searchText } = await importSource('adapters/file-index/redis/search/search.ts')
  const { partitionNumber } = await importSource('adapters/file-index/partitioned/division.ts')
  const adopt = step(`
for i = 1, originals do
  file, ref = file_at(i)
  if not original() then set(ARGV[originals + i], file, ref, ARGV[2 * originals + i]) end
end
`)
  return async (clientId, files) => {
    const groups = new Map()
    for (const file of files) {
      const ref = { clientId, key: file.record.key }
      const number = keyspaces.length > 1 ? partitionNumber(ref, keyspaces.length) : 0
      groups.set(number, [...(groups.get(number) ?? []), { ref, ...file }])
    }
    const calls = [...groups].map(([number, some]) => {
      const { redis, keyPrefix } = keyspaces[number]
      const { keys, nameOf } = keyNames(keyPrefix)
      return adopt(redis, keys(...some.map(({ ref }) => ref)), [
        ...some.map(({ ref }) => nameOf(ref)),
        ...some.map(({ record, recordTag }) => packedListed({ state: 'stored', record, recordTag })),
        ...some.map(({ record }) => searchText(record)),
      ])
    })
    await Promise.all(calls)
  }
}

function sizeOf(folder) {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}
