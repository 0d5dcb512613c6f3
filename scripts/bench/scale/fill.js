import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { importSource } from '../../ready/sources.js'

// So many files share a write to the disk, or a call for each partition. Redis handles some while the next ones are prepared.
const AT_ONCE = 1000
const CONCURRENCY = 2
// A call without a response may be repeated. On a busy machine, Redis can take more than the time limit of the service.
const TRIES = 60
const RETRY_MS = 1000
const TIDY_MOST = 10_000

// Each folder has a hundredth of the files, but this one has always as many.
const FOLDERS = 100
export const SMALL_FOLDER = 'small'
const IN_SMALL_FOLDER = 10
/** One file in a thousand has this word in its name. */
export const RARE_WORD = 'contract'

/**
 * Adds originals to the index until it has `files`, with the functions of the service. Only some of them are stored in
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
      sha256: digest('sha256', i),
      storedAt: original.record.storedAt + i,
    })
    // Of the form of an ETag of S3.
    const fileOf = (i) => ({ record: recordOf(i), recordTag: digest('md5', i) })
    const every = Math.max(1, Math.floor(files / samples))
    const sampled = []
    let next = 1
    const adoptRest = async () => {
      while (next < files) {
        const from = next
        next = Math.min(files, from + AT_ONCE)
        const some = Array.from({ length: next - from }, (_, i) => fileOf(from + i))
        sampled.push(...some.filter((_, i) => (from + i) % every === 0).map(({ record }) => record.key))
        await retried(() => index.adoptAll(ref.clientId, some))
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, adoptRest))
    // The service does this too, in idle time.
    while ((await index.tidy({ most: TIDY_MOST })) > 0);
    for (const key of sampled) storage.store(key)
    // Without these, the service would compare the index with the bucket, where most of the files are missing.
    await index.markComplete()
    await index.noteCompared((await index.run()).id)
    return sampled
  } finally {
    await index.close()
  }
}

function digest(algorithm, i) {
  return createHash(algorithm).update(String(i)).digest('hex')
}

async function retried(call) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call()
    } catch (error) {
      if (tries === TRIES) throw error
      await sleep(RETRY_MS)
    }
  }
}

async function firstOf(items) {
  for await (const item of items) return [item]
  return []
}
