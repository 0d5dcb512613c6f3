import { UNFINISHED_MS } from '../../upload/resume-store.ts'
import type { StoredUpload, UploadMemory } from './memory.ts'

const DATABASE = 'sluice-uploads'
const STORE = 'unfinished'
// The names of paused uploads in localStorage begin with it.
const PAUSED = 'sluice-paused:'
// The browser copies a stored file.
const FILE_MAX_BYTES = 256 * 1024 * 1024

/**
 * Stores unfinished uploads in the IndexedDB of the browser, for a week. Files of up to 256 MiB are stored with their bytes, others by
 * name. Does nothing where there is no IndexedDB.
 *
 * @param scope uploads of another scope are not listed
 */
export function browserMemory(scope = ''): UploadMemory {
  const keyOf = (id: string) => `${scope}\n${id}`
  return {
    async list() {
      const all = await inStore<StoredUpload[]>('readonly', (store) => store.getAll(), [])
      const keys = await inStore<IDBValidKey[]>('readonly', (store) => store.getAllKeys(), [])
      const own: StoredUpload[] = []
      for (const [i, upload] of all.entries()) {
        if (upload.storedAt < Date.now() - UNFINISHED_MS)
          await inStore('readwrite', (store) => store.delete(String(keys[i])), undefined)
        // A page that is still open uploads it.
        else if (keys[i] === keyOf(upload.id) && (await isOwned(upload.id)))
          own.push({ ...upload, isPaused: localStorage.getItem(PAUSED + upload.id) !== null })
      }
      return own.sort((one, other) => one.storedAt - other.storedAt)
    },
    async put(upload) {
      void isOwned(upload.id)
      const file = upload.size > FILE_MAX_BYTES ? undefined : upload.file
      const put = (value: StoredUpload) =>
        inStore('readwrite', (store) => store.put(value, keyOf(value.id)), 'failed' as unknown)
      // A full disk, or a file that cannot be copied.
      if ((await put({ ...upload, file })) === 'failed') await put({ ...upload, file: undefined })
    },
    setPaused(id, isPaused) {
      try {
        // IndexedDB would copy the file again.
        if (isPaused) localStorage.setItem(PAUSED + id, '')
        else localStorage.removeItem(PAUSED + id)
      } catch {}
    },
    async delete(id) {
      this.setPaused(id, false)
      await inStore('readwrite', (store) => store.delete(keyOf(id)), undefined)
    },
  }
}

/** Whether this page is the one that uploads it. Its lock ends with the page. */
function isOwned(id: string): Promise<boolean> {
  const { locks } = globalThis.navigator ?? {}
  // Only secure contexts have locks.
  if (!locks) return Promise.resolve(true)
  return new Promise((resolve) => {
    void locks.request(`sluice-upload:${id}`, { ifAvailable: true }, (lock) => {
      resolve(lock !== null)
      return lock ? new Promise(() => {}) : undefined
    })
  })
}

/** Runs one request. A browser that refuses to store anything must not fail the upload. */
async function inStore<T>(
  mode: IDBTransactionMode,
  request: (store: IDBObjectStore) => IDBRequest,
  otherwise: T,
): Promise<T> {
  let database: IDBDatabase | undefined
  try {
    const opening = indexedDB.open(DATABASE, 1)
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE)
    database = await settled<IDBDatabase>(opening)
    return await settled<T>(request(database.transaction(STORE, mode).objectStore(STORE)))
  } catch {
    return otherwise
  } finally {
    database?.close()
  }
}

function settled<T>(request: IDBRequest): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
