/** Where the URLs of unfinished uploads are stored, so that a later upload of the same file resumes. */
export interface ResumeStore {
  get(key: string): string | undefined | Promise<string | undefined>
  set(key: string, url: string): void | Promise<void>
  delete(key: string): void | Promise<void>
}

interface WebStorage {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

const PREFIX = 'sluice-upload:'
/**
 * How long a browser stores unfinished uploads: a week. By default, the service deletes them after a day (RESUMABLE_UPLOAD_TTL_SECONDS);
 * those begin again.
 */
export const UNFINISHED_MS = 7 * 24 * 3_600_000

/** The localStorage of a browser, for {@link UNFINISHED_MS}. Undefined where there is no usable one. */
export function browserStore(): ResumeStore | undefined {
  const storage = webStorage()
  if (!storage) return undefined
  return {
    // After the time at which it was stored.
    get: (key) =>
      storage
        .getItem(PREFIX + key)
        ?.split(' ')
        .pop(),
    // A full storage must not fail the upload.
    set: (key, url) =>
      quietly(() => {
        removeOld(storage)
        storage.setItem(PREFIX + key, `${Date.now()} ${url}`)
      }),
    delete: (key) => storage.removeItem(PREFIX + key),
  }
}

/** Removes the names of files whose uploads were never continued. */
function removeOld(storage: WebStorage): void {
  for (const key of Object.keys(storage))
    if (key.startsWith(PREFIX) && Number(storage.getItem(key)?.split(' ')[0]) < Date.now() - UNFINISHED_MS)
      storage.removeItem(key)
}

/** Only in pages: Node has a localStorage of its own, which is one for all programs of a folder. */
function webStorage(): WebStorage | undefined {
  const { document, localStorage } = pageGlobals()
  return document === undefined ? undefined : localStorage
}

/** Reading localStorage throws in a page that may not store anything. */
function pageGlobals(): { document?: unknown; localStorage?: WebStorage | undefined } {
  const page = globalThis as unknown as { document?: unknown; localStorage?: WebStorage }
  if (page.document === undefined) return {}
  try {
    return { document: page.document, localStorage: page.localStorage }
  } catch {
    return {}
  }
}

function quietly(work: () => void): void {
  try {
    work()
  } catch {}
}
