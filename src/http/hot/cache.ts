import type { IncomingHttpHeaders } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { Client } from '../../core/clients/client.ts'
import type { ObjectKey } from '../../core/files/object-key.ts'
import { onlyPreferences, type Preference, preferencesOf } from '../../core/media/preferences.ts'
import { type ChangedFile, changedFile, type FileChanges } from '../../core/ports/index/file-changes.ts'
import type { StoredSource } from '../../service/delivery/deliveries.ts'
import type { Lifetime } from '../caching/lifetime.ts'

/** The response with a complete stored file, and what is needed to send, count and log it again. */
export interface HotResponse {
  /** The client as it was then. Each change of a client, its rules or its keys leads to another object. */
  client: Client
  source: StoredSource
  /** The headers of a complete 200. Names and values alternate. Without those that differ from request to request. */
  headers: readonly string[]
  /** The headers of a 304, in the same form. */
  validators: readonly string[]
  /** Absent for a large file: it is read from the bucket again. */
  body?: Buffer
  /** Whether the bytes are compressed: no part of them is sent. */
  isEncoded?: true
  /** Quoted. */
  etag: string
  lastModified: Date
  /**
   * When the signature of the URL expires, in milliseconds since 1970, exclusive, and how long a response without this limit may be
   * stored. Absent when it does not expire.
   */
  expiry?: { until: number; lifetime: Lifetime }
  /** For the log: the path without secrets, and the template of its route. */
  path: string
  route: string
}

/** The name of a response: its target, and the preferences in the request headers on which it depends. */
export interface HotName {
  target: string
  headers: IncomingHttpHeaders
}

/** Under a target: what its responses depend on, so that each has a name of its own. */
interface Varying {
  variesBy: readonly Preference[]
}

/** Responses with stored files, in memory: small files completely, large ones without their bytes. */
export interface HotCache {
  /** False when nothing is cached. */
  isEnabled: boolean
  /** Undefined for an unknown one, and while changes by other processes are unknown. */
  find(name: HotName): HotResponse | undefined
  /** The state at the beginning of a request, for {@link HotCache.add}. */
  state(): HotState
  /** Adds a response, unless its file may have changed since the request began. */
  add(
    name: HotName,
    response: HotResponse,
    options: { state: HotState; variesBy: readonly Preference[] },
  ): void
  remove(name: HotName): void
}

/** A point in the order of the changes of files. */
export type HotState = number

/** The size of the largest file whose bytes are cached. */
export const HOT_MAX_BODY_BYTES = 256 * 1024

// Headers, names and the objects around them.
const OVERHEAD_BYTES = 2048
// Of a target whose responses depend on request headers.
const MARKER_BYTES = 400
// Longer names are hardly requested again: campaigns and scanners make them.
const NAME_MAX_LENGTH = 1000
// A request that began before as many other changes is too old to be added.
const RECENT_CHANGES = 10_000

/**
 * @param options.maxBytes bodies and overhead of all entries. Beyond it, the least recently used ones are removed; 0: nothing is
 *   cached
 * @param options.now as `performance.now()`
 */
export function createHotCache({
  maxBytes,
  changes,
  now = () => performance.now(),
}: {
  maxBytes: number
  changes: FileChanges
  now?: () => number
}): HotCache {
  /** The names of entries, by client and id. */
  const namesByFile = new Map<string, Set<string>>()
  const entries = new LRUCache<string, HotResponse | Varying>({
    maxSize: Math.max(1, maxBytes),
    sizeCalculation(entry, name) {
      if ('variesBy' in entry) return MARKER_BYTES + 2 * name.length
      return (entry.body?.length ?? 0) + OVERHEAD_BYTES + 2 * (name.length + entry.path.length)
    },
    dispose(entry, name) {
      if ('variesBy' in entry) return
      const file = fileOf(entry.source)
      const names = namesByFile.get(file)
      names?.delete(name)
      if (names?.size === 0) namesByFile.delete(file)
    },
  })

  // The number of changes so far, and the last change of each file among the recent ones.
  let count: HotState = 0
  let forgottenUntil: HotState = 0
  const lastChanges = new Map<string, HotState>()
  const note = (file: string) => {
    count += 1
    lastChanges.delete(file)
    lastChanges.set(file, count)
    if (lastChanges.size <= RECENT_CHANGES) return
    const [oldest] = lastChanges
    if (!oldest) return
    forgottenUntil = oldest[1]
    lastChanges.delete(oldest[0])
  }

  if (maxBytes > 0)
    changes.listen({
      changed(changed, derivative) {
        const file = textOf(changed)
        note(file)
        for (const name of [...(namesByFile.get(file) ?? [])])
          if (derivative === undefined || derivativeOf(entries.peek(name)) === derivative)
            entries.delete(name)
      },
      missed() {
        count += 1
        forgottenUntil = count
        entries.clear()
      },
    })

  const nameOf = ({ target, headers }: HotName, { variesBy }: Varying) =>
    `${target}\n${JSON.stringify(onlyPreferences(preferencesOf(headers), variesBy))}`

  return {
    isEnabled: maxBytes > 0,
    find(name) {
      const first = entries.get(name.target)
      const found = first && 'variesBy' in first ? entries.get(nameOf(name, first)) : first
      if (!found || 'variesBy' in found) return undefined
      return now() < changes.knownUntil() ? found : undefined
    },
    state: () => count,
    add(name, response, { state, variesBy }) {
      if (maxBytes === 0 || now() >= changes.knownUntil()) return
      const file = fileOf(response.source)
      if (state < forgottenUntil || state < (lastChanges.get(file) ?? 0)) return
      const varies = variesBy.length > 0
      const key = varies ? nameOf(name, { variesBy }) : name.target
      if (key.length > NAME_MAX_LENGTH) return
      if (varies) entries.set(name.target, { variesBy })
      entries.set(key, response)
      if (!entries.has(key)) return
      const names = namesByFile.get(file) ?? new Set()
      namesByFile.set(file, names.add(key))
    },
    remove(name) {
      const first = entries.peek(name.target)
      entries.delete(first && 'variesBy' in first ? nameOf(name, first) : name.target)
    },
  }
}

function derivativeOf(entry: HotResponse | Varying | undefined): ObjectKey | undefined {
  return entry && 'source' in entry ? entry.source.derivative : undefined
}

function fileOf({ clientId, original }: StoredSource): string {
  return textOf(changedFile(clientId, original))
}

function textOf({ clientId, id }: ChangedFile): string {
  return `${clientId} ${id}`
}
