import { setTimeout as sleep } from 'node:timers/promises'
import { bytesOf } from '../load.js'
import { median } from '../table.js'
import { fill, RARE_WORD, SMALL_FOLDER } from './fill.js'
import { measureFilledProcesses } from './processes.js'
import { deletionOf, deliveryOf, isComparing, listOf, pictureOf, uploaded } from './requests.js'
import { newStorage } from './storage.js'
import { watch } from './watch.js'

// So many files have bytes in the bucket.
const SAMPLES = 500
const STARTS = 3
const UPLOADS = 200
// A deep page is the one after so many files.
const DEEP = 100_000
// The maximum of the service.
const PAGE = 1000
// Several web processes are measured with so many files, and with any number to test the bench.
const MANY = 1_000_000
// After its start, the service looks for the work of dead processes.
const SETTLE_MS = 1000

const LISTS = {
  'list, newest first': () => 'limit=50',
  'list of a large folder': () => 'prefix=folder-7&limit=50',
  'list of a folder of ten files': () => `prefix=${SMALL_FOLDER}&limit=50`,
  'search, one file matches': (files) => `search=${files - 1}.jpg&limit=50`,
  'search, one file in 1,000 matches': () => `search=${RARE_WORD}&limit=50`,
  'search, all match': () => 'search=2026-11&limit=50',
  'search, no file matches': () => 'search=not-in-any-name&limit=50',
  'search for images by name, one file in 1,000': () => `search=${RARE_WORD}&type=image&sort=name&limit=50`,
}
// These compare many keys, so there are fewer requests.
const FILTERED_LISTS = {
  'list of images by name, all match': () => 'type=image&sort=name&limit=50',
  'list of videos, newest first, no file matches': () => 'type=video&limit=50',
  'list of a large folder by name': () => 'prefix=folder-7&sort=name&limit=50',
  'search, one file in 100 matches': () => 'search=77.jpg&limit=50',
}

/**
 * What the number of files may change: delivery, lists, search, upload, delete, start and memory.
 *
 * @param {{folder: string, photo: string, redis?: object, count: number, isQuick: boolean, isShort: boolean, note: (rows: object[]) => void}} options
 *   `count`: of files; `note` is called with what was measured so far
 * @returns {Promise<Array<{work: string, figures: object}>>}
 */
export async function measureFiles({ folder, photo, redis, count: files, isQuick, isShort, note }) {
  const storage = await newStorage({ folder, photo, redis })
  const filled = await measuredFill(storage, { files, samples: isQuick ? Math.ceil(SAMPLES / 100) : SAMPLES })
  const rows = await measureFilled({ storage, redis, files, isQuick, isShort, filled, note })
  if (!redis || (files < MANY && !isQuick)) return rows
  return [...rows, ...(await measureFilledProcesses({ storage, redis, files, isQuick }))]
}

/** @param {{storage: object, redis?: object, files: number, isQuick: boolean, isShort: boolean, filled: object, note: (rows: object[]) => void}} options `filled`: of {@link measuredFill} */
export async function measureFilled({ storage, redis, files, isQuick, isShort, filled, note }) {
  const { keys, ...figures } = filled
  const times = (count) => Math.ceil(count / (isQuick ? 100 : isShort ? 3 : 1))
  // So each request reads the index. What the cache in memory answers does not depend on the number of files.
  const env = { HOT_CACHE_BYTES: '0' }
  const startSeconds = []
  for (let i = 0; i < times(STARTS); i += 1) {
    const startedAt = performance.now()
    const { server } = await storage.start({ env })
    startSeconds.push((performance.now() - startedAt) / 1000)
    await server.stop()
  }
  const { server } = await storage.start({ env })
  const before = await redis?.usages?.()
  try {
    await sleep(times(SETTLE_MS))
    const residentBytes = await server.residentBytes()
    const rows = [
      { work: 'process', figures: { startSeconds: median(startSeconds), residentBytes, ...figures } },
    ]
    const measure = async (work, request, { count = 200, warmUp = 50 } = {}) => {
      const counts = { count: times(count), warmUp: times(warmUp) }
      rows.push({ work, figures: await watch({ server, redis, request, ...counts }) })
      note(rows)
    }
    await measure('delivery', (i) => deliveryOf(keys[i % keys.length]), { count: 1500, warmUp: 1000 })
    const query = await deepPage(server)
    await measure('list, a deep page', () => listOf(query))
    for (const [work, query] of Object.entries(LISTS)) await measure(work, () => listOf(query(files)))
    for (const [work, query] of Object.entries(FILTERED_LISTS))
      await measure(work, () => listOf(query(files)), { count: 50, warmUp: 20 })
    const { picture } = storage
    const once = { count: UPLOADS, warmUp: 0 }
    await measure('upload', () => pictureOf(picture), once)
    const added = await uploaded(server, { picture, count: times(UPLOADS) })
    await measure('delete', (i) => deletionOf(added[i]), once)
    rows[0].figures.nodeShares = await sharesOf(redis, before)
    if (await isComparing(server.url))
      throw new Error('the service compares an index with a bucket without its files')
    return rows
  } finally {
    await server.stop()
  }
}

/** The shares of the nodes of a cluster in the CPU time since `before`, and in all memory: the smallest and the largest one. */
async function sharesOf(redis, before) {
  const after = await redis?.usages?.()
  if (!after) return undefined
  const usages = after.map((one, i) => ({ ...one, cpuMs: one.cpuMs - before[i].cpuMs }))
  const bounds = (name) => {
    const sum = usages.reduce((all, one) => all + one[name], 0)
    const shares = usages.map((one) => one[name] / sum)
    return [Math.min(...shares), Math.max(...shares)]
  }
  return { cpu: bounds('cpuMs'), memory: bounds('memory') }
}

/** Fills the index. @returns its figures, and the `keys` of the files that have bytes */
export async function measuredFill(storage, { files, samples }) {
  const before = await storage.indexBytes()
  const startedAt = performance.now()
  const keys = await fill(storage, { files, samples })
  const fillSeconds = (performance.now() - startedAt) / 1000
  const indexBytes = (await storage.indexBytes()) - before
  return { keys, fillSeconds, indexBytes, indexBytesPerFile: indexBytes / files }
}

/** Reads a list to its end, or {@link DEEP} files of it. @returns the query for the last page before */
async function deepPage({ url }) {
  let query = `sort=key&limit=${PAGE}`
  for (let read = 0; read < DEEP; ) {
    const { files, cursor } = JSON.parse(await bytesOf(url, listOf(query)))
    if (cursor === null) break
    read += files.length
    query = `sort=key&limit=${PAGE}&cursor=${cursor}`
  }
  return query.replace(`limit=${PAGE}`, 'limit=50')
}
