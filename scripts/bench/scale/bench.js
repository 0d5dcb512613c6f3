import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { say } from '../../ready/run.js'
import { photosIn } from '../photo.js'
import { machine } from '../table.js'
import { hasS3 } from '../works/s3.js'
import { measureComparison } from './comparison.js'
import { measureDerivatives } from './derivatives.js'
import { measureFiles } from './files.js'
import { measureProcesses } from './processes.js'
import { isRedisInstalled, startRedis, startRedisCluster } from './redis.js'
import { tables } from './tables.js'
import { measureUnchanged } from './unchanged.js'

const GROUPS = {
  files: { measure: measureFiles, sizes: [10, 1000, 100_000, 1_000_000], few: [10, 50] },
  derivatives: { measure: measureDerivatives, sizes: [1, 100, 2000], few: [1, 10] },
  processes: { measure: measureProcesses, sizes: [1, 2, 4], few: [1, 2], indexes: ['redis', 'cluster'] },
  comparison: { measure: measureComparison, sizes: [5000], few: [20], indexes: ['redis'] },
  unchanged: { measure: measureUnchanged, sizes: [1_000_000], few: [2000], indexes: ['redis'] },
}
// The embedded index belongs to one server with one disk.
const EMBEDDED_FILES_MAX = 100_000
// The groups whose number of files --files sets.
const OF_FILES = ['files', 'unchanged']

/** The names that --only accepts. */
export const SCALE_NAMES = Object.keys(GROUPS)

/** The names that --indexes accepts. */
export const INDEX_NAMES = ['embedded', 'redis', 'cluster']

/**
 * Measures how the costs grow with the number of files, of derivatives of one file, and of web processes, and what a comparison of
 * index and bucket costs, also the deliveries.
 *
 * @param {{only?: string[], files?: number[], indexes?: string[], size: 'full' | 'short' | 'quick', photo?: string,
 *   json?: string, temporary: string}} options `files`: other numbers of files
 * @returns {Promise<string>} tables in Markdown
 */
export async function benchScale({ only = SCALE_NAMES, indexes: asked = INDEX_NAMES, files, ...options }) {
  const { size, photo, json, temporary } = options
  const [isQuick, isShort] = [size === 'quick', size === 'short']
  const [picture] = await photosIn(temporary, photo)
  const isInstalled = isRedisInstalled()
  const indexes = asked.filter((index) => index === 'embedded' || isInstalled)
  if (!isInstalled) say('redis-server is not installed; continuing without it.')
  const rows = []
  const write = (some) => {
    if (json)
      writeFileSync(json, `${JSON.stringify({ machine: machine({ runs: 1 }), rows: some }, null, 2)}\n`)
  }
  for (const group of only) {
    if (group === 'unchanged' && !hasS3()) {
      say('radosgw is not installed; continuing without unchanged files in S3.')
      continue
    }
    const { measure, sizes, few, indexes: own = INDEX_NAMES } = GROUPS[group]
    const counts = (OF_FILES.includes(group) && files) || (isQuick ? few : sizes)
    for (const index of indexes.filter((each) => own.includes(each))) {
      for (const count of counts) {
        if (index === 'embedded' && group === 'files' && count > EMBEDDED_FILES_MAX) continue
        say(`${group}: ${count}, ${index} index ...`)
        const named = (measured) => measured.map((row) => ({ group, index, count, ...row }))
        // A long run that is aborted leaves what it has measured.
        const note = (measured) => write([...rows, ...named(measured)])
        const measured = await inTurn(measure, {
          index,
          count,
          photo: picture,
          isQuick,
          isShort,
          temporary,
          note,
        })
        rows.push(...named(measured))
        write(rows)
      }
    }
  }
  return `${machine({ runs: 1 })}\n\n${tables(rows)}`
}

/** Each measurement has an empty folder and a Redis of its own. */
async function inTurn(measure, { index, temporary, ...options }) {
  const folder = mkdtempSync(join(temporary, 'scale-'))
  const start = { redis: () => startRedis(), cluster: () => startRedisCluster(folder) }[index]
  const redis = await start?.()
  try {
    return await measure({ ...options, folder, redis })
  } finally {
    await redis?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
