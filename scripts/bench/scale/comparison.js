import { setTimeout as sleep } from 'node:timers/promises'
import { load } from '../load.js'
import { median } from '../table.js'
import { deliveryOf, isComparing, pictureOf, uploaded } from './requests.js'
import { newStorage } from './storage.js'

const DELIVERED = 100
const WARM_UP = 2000
const ROUNDS = 10
// Requests of a part that is measured as a whole. A comparison takes at least ten times as long.
const PART = 100
const PARTS_ALONE = 10
// No run of an index has this name, so it is compared with the bucket in the next seconds.
const NO_RUN = '[]'

/**
 * The latency of deliveries by one process while it compares the index with the bucket, and without that, in turn. All files are
 * unchanged.
 *
 * @param {{folder: string, photo: string, redis: object, count: number, isQuick: boolean}} options `count`: of files
 * @returns {Promise<Array<{work: string, figures: object}>>}
 */
export async function measureComparison({ folder, photo, redis, count: files, isQuick }) {
  const storage = await newStorage({ folder, photo, redis })
  const { server } = await storage.start({ env: { HOT_CACHE_BYTES: '0' } })
  const index = await storage.openIndex()
  try {
    const { url } = server
    const { picture } = storage
    await load({ url, connections: 8, count: files, request: () => pictureOf(picture) })
    const keys = await uploaded(server, { picture, count: isQuick ? 2 : DELIVERED })
    const request = (i) => deliveryOf(keys[i % keys.length])
    const part = async () => (await load({ url, connections: 1, count: PART, request })).latencies
    await load({ url, connections: 1, count: isQuick ? 10 : WARM_UP, request })
    const rounds = []
    for (let round = 0; round < (isQuick ? 1 : ROUNDS); round += 1) {
      const alone = []
      for (let i = 0; i < PARTS_ALONE; i += 1) alone.push(...(await part()))
      await index.noteCompared(NO_RUN)
      // One of few files may be over before it is seen.
      while (!(await isComparing(url)) && !(await index.run()).isCompared) await sleep(20)
      const startedAt = performance.now()
      const parts = []
      do parts.push(await part())
      while (await isComparing(url))
      // The comparison has ended during the last one.
      const comparing = (parts.length > 1 ? parts.slice(0, -1) : parts).flatMap((latencies) => [...latencies])
      const seconds = (performance.now() - startedAt) / 1000
      rounds.push({ alone: figuresOf(alone), comparing: figuresOf(comparing), seconds })
    }
    return [{ work: 'delivery', figures: together(rounds) }]
  } finally {
    await index.close()
    await server.stop()
  }
}

function figuresOf(latencies) {
  const sorted = latencies.sort((one, other) => one - other)
  const at = (share) => sorted[Math.floor(share * sorted.length)]
  return { p50Ms: at(0.5), p99Ms: at(0.99) }
}

/** The medians of all rounds. The ratio is that within each round: other work of the machine changes from one to the next. */
function together(rounds) {
  const each = (of) => ({
    p50Ms: median(rounds.map((one) => of(one, 'p50Ms'))),
    p99Ms: median(rounds.map((one) => of(one, 'p99Ms'))),
  })
  return {
    alone: each(({ alone }, name) => alone[name]),
    comparing: each(({ comparing }, name) => comparing[name]),
    ratio: each(({ alone, comparing }, name) => comparing[name] / alone[name]),
    comparisonSeconds: median(rounds.map(({ seconds }) => seconds)),
  }
}
