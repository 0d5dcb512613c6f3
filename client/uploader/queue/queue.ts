import type { SluiceError } from '../../http/problem.ts'
import { errorFrom, isRetryable, retryAtOf } from './failure.ts'
import {
  type FolderFile,
  isActive,
  isSameFile,
  newItem,
  type QueueState,
  stateOf,
  type UploadItem,
} from './item.ts'
import { restored, storedOf } from './memory.ts'
import { whenOnline } from './online.ts'
import type { QueueOptions } from './options.ts'
import { refusal } from './rules.ts'
import { discard, send } from './send.ts'

/** Uploads several files, and has a state for a user interface. */
export interface UploadQueue {
  /** Adds files and starts their uploads. A file that already waits or is sent is ignored. */
  add(files: Iterable<File | FolderFile>): void
  /** Pauses a file, or all. A large file continues later with the missing bytes, a small one begins again. */
  pause(id?: string): void
  /** Continues a paused file, or all. */
  resume(id?: string): void
  /** Retries a failed file, or all. A file that waits for `retryAt` is sent at once. */
  retry(id?: string): void
  /** Stops the upload of a file and forgets it. The bytes of an unfinished upload are deleted; a stored file stays stored. */
  remove(id: string): void
  /** Removes all files. */
  clear(): void
  /** Continues what a previous page has left in `memory`. */
  restore(): Promise<void>
  /** Replaces options. Uploads in progress are not affected. */
  configure(changes: Partial<QueueOptions>): void
  /** The same object until the next change. */
  getState(): QueueState
  /** Calls a function after each change. @returns a function that ends it */
  subscribe(listener: () => void): () => void
  /** Stops all uploads without forgetting them: the next page can continue them. */
  close(): void
}

// Browsers limit connections to a server of HTTP/1.1 to six.
const CONCURRENCY = 3
// The reason with which the upload of a removed file is aborted.
const REMOVED = 'removed'

/** Creates a queue. It sends nothing until files are added. */
export function createUploadQueue(given: QueueOptions): UploadQueue {
  const options: QueueOptions = { ...given }
  const listeners = new Set<() => void>()
  const runs = new Map<string, AbortController>()
  let state = stateOf([])
  let stopWatching = () => {}
  let isClosed = false
  let timer: ReturnType<typeof setTimeout> | undefined

  const find = (id: string) => state.items.find((item) => item.id === id)
  const chosen = (id: string | undefined) => state.items.filter((item) => id === undefined || item.id === id)
  const setItems = (items: readonly UploadItem[]) => {
    state = stateOf(items)
    for (const listener of listeners) listener()
  }
  function change(id: string, changes: Partial<UploadItem>): UploadItem | undefined {
    let changed: UploadItem | undefined
    const items = state.items.map((item) => {
      if (item.id !== id) return item
      changed = { ...item, ...changes }
      return changed
    })
    if (changed) setItems(items)
    return changed
  }

  /** Starts the next uploads, and comes back when the first retry is due. */
  function pump(): void {
    clearTimeout(timer)
    if (isClosed) return
    const now = Date.now()
    const waiting = state.items.filter(({ status }) => status === 'waiting')
    for (const item of waiting.filter(({ retryAt = 0 }) => retryAt <= now)) {
      if (runs.size >= (options.concurrency ?? CONCURRENCY)) return
      void run(item)
    }
    const next = Math.min(
      ...waiting.map(({ retryAt = 0 }) => (retryAt > now ? retryAt : Number.POSITIVE_INFINITY)),
    )
    if (Number.isFinite(next)) timer = setTimeout(pump, next - now)
  }

  async function run(item: UploadItem): Promise<void> {
    const { id, file } = item
    if (!file) return
    const controller = new AbortController()
    const { signal } = controller
    runs.set(id, controller)
    change(id, { status: 'uploading', error: undefined, retryAt: undefined })
    try {
      const onProgress = (sentBytes: number) => {
        if (!signal.aborted) change(id, { sentBytes })
      }
      const record = await send({ item, file, options, signal, onProgress })
      if (signal.aborted) return
      void options.memory?.delete(id)
      const done = change(id, { status: 'done', sentBytes: file.size, record })
      if (done) options.onUploaded?.(done)
    } catch (cause) {
      if (!signal.aborted) fail(id, errorFrom(cause))
    } finally {
      if (runs.get(id) === controller) runs.delete(id)
      // Only now its URL is stored.
      if (signal.reason === REMOVED) discard(item, options)
      pump()
    }
  }

  function fail(id: string, error: SluiceError): void {
    const retryAt = retryAtOf(error)
    if (retryAt !== undefined) {
      change(id, { status: 'waiting', error, retryAt })
      return
    }
    // A refused file would be refused again after a reload.
    if (error.status >= 400 && error.status < 500) void options.memory?.delete(id)
    const failed = change(id, { status: 'failed', error })
    if (failed) options.onError?.(failed)
  }

  function stop(id: string, reason = 'stopped'): void {
    runs.get(id)?.abort(reason)
    runs.delete(id)
  }

  /** Stops the items that are sent or wait. @returns these items */
  function halt(items: readonly UploadItem[]): readonly UploadItem[] {
    const active = items.filter(isActive)
    const ids = new Set(active.map(({ id }) => id))
    for (const id of ids) stop(id)
    const changes = { status: 'paused', error: undefined, retryAt: undefined } as const
    if (ids.size > 0) setItems(state.items.map((item) => (ids.has(item.id) ? { ...item, ...changes } : item)))
    return active
  }

  /** Ends the upload of an item that has left the list. */
  function forget(item: UploadItem): void {
    if (runs.has(item.id)) stop(item.id, REMOVED)
    else if (item.status !== 'done') discard(item, options)
    void options.memory?.delete(item.id)
  }

  const retryLost = () => {
    if (isClosed) return
    for (const { id, error } of state.items) if (error?.code === 'network') queue.retry(id)
  }

  const queue: UploadQueue = {
    add(files) {
      isClosed = false
      const added: UploadItem[] = []
      const isMultiple = options.multiple !== false
      for (const one of isMultiple ? files : [...files].slice(0, 1)) {
        const { file, folder } = one instanceof File ? { file: one, folder: '' } : one
        const interrupted = state.items.find(
          (item) => item.status === 'interrupted' && isSameFile(item, file),
        )
        if (interrupted) {
          change(interrupted.id, { file, status: 'waiting' })
          void options.memory?.put(storedOf(interrupted, file))
          continue
        }
        const isKnown = [...state.items, ...added].some(
          (item) => item.status !== 'failed' && item.folder === folder && isSameFile(item, file),
        )
        if (isKnown) continue
        added.push(newItem({ file, folder, error: refusal(file, options) }))
      }
      if (!isMultiple && added.length > 0) queue.clear()
      if (added.length > 0) setItems([...state.items, ...added])
      for (const item of added) {
        if (item.error) options.onError?.(item)
        else if (item.file) void options.memory?.put(storedOf(item, item.file))
      }
      pump()
    },
    pause(id) {
      for (const item of halt(chosen(id))) options.memory?.setPaused(item.id, true)
      pump()
    },
    resume(id) {
      isClosed = false
      for (const item of chosen(id)) {
        if (item.status !== 'paused') continue
        options.memory?.setPaused(item.id, false)
        change(item.id, { status: 'waiting' })
      }
      pump()
    },
    retry(id) {
      isClosed = false
      for (const item of chosen(id)) {
        if (!isRetryable(item) && item.retryAt === undefined) continue
        change(item.id, { status: 'waiting', error: undefined, retryAt: undefined })
        if (item.file) void options.memory?.put(storedOf(item, item.file))
      }
      pump()
    },
    remove(id) {
      const removed = chosen(id)
      setItems(state.items.filter((item) => item.id !== id))
      removed.forEach(forget)
      pump()
    },
    clear() {
      const removed = state.items
      // First, so that no aborted upload makes place for the next file.
      setItems([])
      removed.forEach(forget)
    },
    async restore() {
      isClosed = false
      const found = (await options.memory?.list()) ?? []
      if (isClosed) return
      const items = found.filter(({ id }) => !find(id)).map(restored)
      if (items.length > 0) setItems([...state.items, ...items])
      pump()
    },
    configure(changes) {
      Object.assign(options, changes)
      pump()
    },
    getState: () => state,
    subscribe(listener) {
      if (listeners.size === 0) stopWatching = whenOnline(retryLost)
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) stopWatching()
      }
    },
    close() {
      isClosed = true
      halt(state.items)
      pump()
    },
  }
  return queue
}
