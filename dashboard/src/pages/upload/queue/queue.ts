import type { SluiceError } from '../../../../../client/index.ts'
import { browserMemory } from '../../../../../client/uploader/queue/browser-memory.ts'
import { errorFrom } from '../../../../../client/uploader/queue/failure.ts'
import { restored, storedOf, type UploadMemory } from '../../../../../client/uploader/queue/memory.ts'
import { noteUnfinished } from '../../../layout/unfinished.ts'
import { isRunning, isSameUpload, isUnfinished, type NewUpload, newItem, type UploadItem } from './item.ts'
import { discard, send } from './send.ts'

// Browsers limit connections to a server of HTTP/1.1 to six. Some must remain for the pages.
const CONCURRENCY = 4
// The reason with which the upload of a removed item is aborted.
const REMOVED = 'removed'

/** The uploads of this page. */
export interface UploadQueue {
  /** Adds files and starts their uploads. A file that is already here and not yet stored is ignored, or continued. */
  add(uploads: readonly NewUpload[]): void
  pause(id?: string): void
  resume(id?: string): void
  /** Retries a failed upload, or all. */
  retry(id?: string): void
  /** Forgets an upload, and stops it. The bytes of an unfinished one are deleted. */
  remove(id: string): void
  removeAll(): void
  /** Forgets all stored files. They stay stored. */
  clearDone(): void
  /** The same array until the next change. */
  getItems(): readonly UploadItem[]
  /** Calls a function after changes, at most once per frame. @returns a function that ends it */
  subscribe(listener: () => void): () => void
  /** Calls a function with each stored file. @returns a function that ends it */
  onStored(listener: (item: UploadItem) => void): () => void
  /** Stops all uploads. The next page of this member continues them. */
  close(): void
}

/** The queue of a member. It continues what an earlier page has left unfinished, for the clients that the member may see. */
export function createQueue(memberId: string, clientIds: readonly string[]): UploadQueue {
  const memory: UploadMemory = browserMemory(`console ${memberId}`)
  const items = new Map<string, UploadItem>()
  const runs = new Map<string, AbortController>()
  const listeners = new Set<() => void>()
  const storedListeners = new Set<(item: UploadItem) => void>()
  let shown: readonly UploadItem[] = []
  let isScheduled = false
  let isClosed = false

  function changed(): void {
    if (isScheduled || isClosed) return
    isScheduled = true
    // A hidden tab has no frames, but continues to upload.
    setTimeout(() => {
      isScheduled = false
      if (isClosed) return
      shown = [...items.values()]
      noteUnfinished(shown.some(isUnfinished))
      for (const listener of listeners) listener()
    }, 50)
  }
  function change(id: string, changes: Partial<UploadItem>): UploadItem | undefined {
    const item = items.get(id)
    if (!item) return undefined
    const next = { ...item, ...changes }
    items.set(id, next)
    changed()
    return next
  }

  async function run(item: UploadItem, source: File | URL): Promise<void> {
    const { id, size } = item
    const controller = new AbortController()
    const { signal } = controller
    runs.set(id, controller)
    change(id, { status: 'uploading', error: undefined })
    const changeSent = (changes: Partial<UploadItem>) => signal.aborted || change(id, changes)
    try {
      const record = await send(item, source, {
        signal,
        onProgress: (sentBytes) =>
          changeSent({ sentBytes, status: sentBytes === size ? 'storing' : 'uploading' }),
        onBusy: (busyUntil) => changeSent({ busyUntil }),
      })
      void memory.delete(id)
      const done = change(id, { status: 'done', record, sentBytes: size ?? record.size })
      if (done) for (const listener of storedListeners) listener(done)
    } catch (cause) {
      if (!signal.aborted) fail(id, errorFrom(cause, 'network'))
    } finally {
      if (runs.get(id) === controller) runs.delete(id)
      // Only now its URL is stored.
      if (signal.reason === REMOVED) discard(item)
      pump()
    }
  }

  function fail(id: string, error: SluiceError): void {
    // A refused file would be refused again after a reload.
    if (error.status >= 400 && error.status < 500) void memory.delete(id)
    change(id, { status: 'failed', error, busyUntil: undefined })
  }

  function stop(id: string, reason = 'stopped'): void {
    runs.get(id)?.abort(reason)
    runs.delete(id)
  }

  /** Ends the upload of an item that has left the list. */
  function forget(item: UploadItem): void {
    if (runs.has(item.id)) stop(item.id, REMOVED)
    else if (item.status !== 'done') discard(item)
    void memory.delete(item.id)
  }

  function pump(): void {
    for (const item of items.values()) {
      if (runs.size >= CONCURRENCY) return
      if (item.status === 'waiting' && item.source) void run(item, item.source)
    }
  }

  const chosen = (id: string | undefined) =>
    [...items.values()].filter((item) => id === undefined || item.id === id)

  function put(item: UploadItem): void {
    const { source, size } = item
    if (source instanceof File && size !== undefined) void memory.put(storedOf({ ...item, size }, source))
  }

  function addOne(wish: NewUpload): void {
    const item = newItem(wish)
    const known = [...items.values()].find((other) => isUnfinished(other) && isSameUpload(other, item))
    if (known?.status === 'interrupted') {
      const continued = change(known.id, { source: wish.source, status: 'waiting' })
      if (continued) put(continued)
    } else if (!known) {
      items.set(item.id, item)
      put(item)
    }
  }

  const queue: UploadQueue = {
    add(uploads) {
      for (const upload of uploads) addOne(upload)
      changed()
      pump()
    },
    pause(id) {
      for (const { id: one, status, source } of chosen(id)) {
        if ((status !== 'waiting' && status !== 'uploading') || source instanceof URL) continue
        stop(one)
        memory.setPaused(one, true)
        change(one, { status: 'paused', busyUntil: undefined })
      }
      pump()
    },
    resume(id) {
      for (const { id: one, status } of chosen(id)) {
        if (status !== 'paused') continue
        memory.setPaused(one, false)
        change(one, { status: 'waiting' })
      }
      pump()
    },
    retry(id) {
      for (const item of chosen(id)) {
        if (item.status !== 'failed' || !item.source) continue
        const waiting = change(item.id, { status: 'waiting', error: undefined })
        if (waiting) put(waiting)
      }
      pump()
    },
    remove(id) {
      const item = items.get(id)
      if (!item) return
      items.delete(id)
      forget(item)
      changed()
      pump()
    },
    removeAll() {
      const all = [...items.values()]
      items.clear()
      all.forEach(forget)
      changed()
    },
    clearDone() {
      for (const { id, status } of chosen(undefined)) if (status === 'done') items.delete(id)
      changed()
    },
    getItems: () => shown,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    onStored(listener) {
      storedListeners.add(listener)
      return () => storedListeners.delete(listener)
    },
    close() {
      isClosed = true
      window.removeEventListener('online', retryLost)
      window.removeEventListener('beforeunload', warn)
      items.clear()
      for (const id of runs.keys()) stop(id)
      shown = []
    },
  }

  async function restore(): Promise<void> {
    for (const stored of await memory.list()) {
      const { file, retryAt: _, ...upload } = restored(stored)
      const clientId = upload.id.slice(0, upload.id.indexOf(':'))
      if (!clientIds.includes(clientId) || items.has(upload.id)) continue
      const item: UploadItem = { ...upload, clientId, source: file, busyUntil: undefined }
      // The same file may have been added while the list was read.
      if (![...items.values()].some((other) => isSameUpload(other, item))) items.set(item.id, item)
    }
    changed()
    pump()
  }
  const retryLost = () => {
    for (const { id, error } of chosen(undefined)) if (error?.code === 'network') queue.retry(id)
  }
  // What is in progress would stop until the console is opened again.
  const warn = (event: BeforeUnloadEvent) => {
    if ([...items.values()].some(isRunning)) event.preventDefault()
  }
  window.addEventListener('online', retryLost)
  window.addEventListener('beforeunload', warn)
  void restore()
  return queue
}
