import { createHash, randomBytes } from 'node:crypto'
import { importSource } from '../../ready/sources.js'

// Each folder has a hundredth of the files, but this one has always as many.
const FOLDERS = 100
export const SMALL_FOLDER = 'small'
const IN_SMALL_FOLDER = 10
/** One file in a thousand has this word in its name. */
export const RARE_WORD = 'contract'
const LEASE_MS = 60_000
const TIDY_MOST = 10_000

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const ID_CHARACTERS = 22

/**
 * Replaces the only original of the index by so many others. Only some of them are stored in the bucket.
 *
 * @returns {Promise<string[]>} the keys of those, at most `samples`, spread over all
 */
export async function fill(storage, { files, samples }) {
  const index = await storage.openIndex()
  try {
    const { sampled } = await replaceOnly(index, { files, samples })
    for (const key of sampled) storage.store(key)
    // Without these, the service would compare the index with the bucket, where most of the files are missing.
    await index.markComplete()
    await index.noteCompared((await index.run()).id)
    return sampled
  } finally {
    await index.close()
  }
}

/**
 * Replaces the only original of the index by so many others.
 * @returns {Promise<{clientId: string, replaced: string, sampled: string[]}>} `replaced`: the key of the original that was there;
 *   `sampled` as of {@link fileMaker}
 */
export async function replaceOnly(index, { files, samples }) {
  const [{ ref, original }] = await firstOf(index.list())
  await removed(index, ref)
  const { clientId, key } = ref
  const sampled = await index.addAll({ clientId, record: original.record, files, samples })
  return { clientId, replaced: key, sampled }
}

/**
 * Makes originals with the bytes of one that exists.
 *
 * @param {{record: object, files: number, samples: number}} options
 * @returns {Promise<{idOf: () => string, fileOf: (i: number, id: string) => object, sampled: string[]}>} `fileOf` returns `record` and
 *   `recordTag` for a number from 1 to `files`; `sampled`: the keys of some of those that it has made
 */
export async function fileMaker({ record, files, samples }) {
  const { newOriginal } = await importSource('core/files/object-key.ts')
  const { knownFormat } = await importSource('core/media/formats.ts')
  const format = knownFormat('jpeg')
  const every = Math.max(1, Math.floor(files / samples))
  const sampled = []
  const folderOf = (i) => (i <= IN_SMALL_FOLDER ? SMALL_FOLDER : `folder-${i % FOLDERS}/2026`)
  return {
    sampled,
    idOf() {
      let id = ''
      for (const byte of randomBytes(ID_CHARACTERS)) id += ALPHABET[byte % ALPHABET.length]
      return id
    },
    fileOf(i, id) {
      const { key } = newOriginal({ folder: folderOf(i), format, id })
      if (i % every === 0) sampled.push(key)
      const sha256 = createHash('sha256').update(String(i)).digest('hex')
      return {
        record: {
          ...record,
          key,
          originalName: `${i % 1000 === 0 ? RARE_WORD : 'photo'} 2026-11-${10 + (i % 20)} ${i}.jpg`,
          sha256,
          storedAt: record.storedAt + i,
        },
        // Of the form of an ETag of S3.
        recordTag: sha256.slice(32),
      }
    },
  }
}

async function removed(index, ref) {
  const now = Date.now()
  await index.beginRemoval(ref, { cause: 'purge', leaseUntil: now + LEASE_MS, now })
  await index.finishRemoval(ref, now)
  // The service does this too, in idle time.
  while ((await index.tidy({ most: TIDY_MOST })) > 0);
}

async function firstOf(items) {
  for await (const item of items) return [item]
  return []
}
