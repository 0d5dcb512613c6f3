import { load } from '../load.js'
import { deletionOf, deliveryOf, fileOf, uploaded } from './requests.js'
import { newStorage } from './storage.js'
import { watch } from './watch.js'

// So that a median of few deletes says something, without rendering for minutes.
const RENDERED = 4000
const DELETES_MAX = 20

/**
 * What the number of derivatives of one file may change. The derivatives are rendered by the service.
 *
 * @param {{folder: string, photo: string, redis?: object, count: number, isQuick: boolean}} options `count`: of derivatives
 * @returns {Promise<Array<{work: string, figures: object}>>}
 */
export async function measureDerivatives({ folder, photo, redis, count: derivatives, isQuick }) {
  const times = (count) => (isQuick ? Math.ceil(count / 100) : count)
  const storage = await newStorage({ folder, photo, redis })
  const { server } = await storage.start({ env: { HOT_CACHE_BYTES: '0' } })
  try {
    const deletes = Math.max(2, Math.min(DELETES_MAX, Math.floor(times(RENDERED) / derivatives)))
    const keys = await uploaded(server, { picture: storage.picture, count: deletes })
    await load({
      url: server.url,
      connections: 4,
      count: deletes * derivatives,
      request: (i) => deliveryOf(keys[i % deletes], variant(Math.floor(i / deletes))),
    })
    const rows = []
    const measure = async (work, request, { count, warmUp = 0 }) => {
      rows.push({ work, figures: await watch({ server, redis, request, count, warmUp }) })
    }
    const often = { count: times(500), warmUp: times(500) }
    await measure('stored derivative', (i) => deliveryOf(keys[0], variant(i % derivatives)), often)
    await measure('new derivative', (i) => deliveryOf(keys[0], variant(derivatives + i)), {
      count: times(100),
      warmUp: times(100),
    })
    await measure('list of derivatives', () => fileOf(keys[0]), { count: times(100), warmUp: times(100) })
    await measure('delete with all derivatives', (i) => deletionOf(keys[i]), { count: deletes })
    return rows
  } finally {
    await server.stop()
  }
}

/** The query of another small derivative for each number up to 10,000. */
function variant(i) {
  return `?w=${16 + Math.floor(i / 100)}&f=jpeg&q=${1 + (i % 100)}`
}
