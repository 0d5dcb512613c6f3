import type { UploadItem } from './item.ts'

const PREFIX = 'sluice-console-upload:'
// The service deletes unfinished uploads after a day (RESUMABLE_UPLOAD_TTL_SECONDS).
const LIFETIME_MS = 24 * 3600 * 1000

/** An unfinished upload, as tus-js-client describes it. */
interface Previous {
  size: number | null
  metadata: Record<string, string>
  creationTime: string
  urlStorageKey: string
  uploadUrl: string | null
  parallelUploadUrls: string[] | null
}

/** The key of a file in localStorage. The same file at the same place has the same one after a reload. */
function keyOf({ clientId, folder, name, size, lastModified }: UploadItem): string {
  return `${PREFIX}${JSON.stringify([clientId, folder, name, size, lastModified])}`
}

/** Where tus-js-client stores the URL of an unfinished upload of this item. */
export function urlStorageOf(item: UploadItem) {
  const key = keyOf(item)
  const found = () => read(key)
  return {
    findAllUploads: async () => found(),
    findUploadsByFingerprint: async () => found(),
    removeUpload: async (stored: string) => localStorage.removeItem(stored),
    async addUpload(_fingerprint: string, upload: Previous) {
      try {
        localStorage.setItem(key, JSON.stringify({ ...upload, urlStorageKey: key }))
      } catch {
        // A full storage must not fail the upload.
      }
      return key
    },
  }
}

/** Removes the URL of an item. @returns it, if there was one */
export function takeUrl(item: UploadItem): string | undefined {
  const [previous] = read(keyOf(item))
  localStorage.removeItem(keyOf(item))
  return previous?.uploadUrl ?? undefined
}

/** Removes the URLs of uploads that the service has deleted. */
export function removeExpiredUrls(): void {
  for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX)) read(key)
}

function read(key: string): Previous[] {
  const text = localStorage.getItem(key)
  if (text === null) return []
  const previous = JSON.parse(text) as Previous
  if (Date.parse(previous.creationTime) > Date.now() - LIFETIME_MS) return [previous]
  localStorage.removeItem(key)
  return []
}
