import { boundedCache } from '../../core/budgets/bounded-cache.ts'
import { sha256 } from '../../core/bytes/digest.ts'
import type { Client } from '../../core/clients/client.ts'
import { type ObjectKey, type OriginalName, parseKey, remoteRecordKey } from '../../core/files/object-key.ts'
import type { Format } from '../../core/media/formats.ts'
import type { MediaGroup } from '../../core/media/groups.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { Locks } from '../../core/ports/locks.ts'
import { Problem } from '../../core/problem.ts'
import { putJson, snapshot } from '../../core/storage/small-object.ts'
import type { Originals } from '../originals/originals.ts'
import type { Remotes } from './source.ts'
import type { RemoteUpload } from './upload.ts'

export interface KeepRequest {
  client: Client
  /** IP address of the caller, as limits count it. */
  address: string
  /** The required group of the file. */
  group: MediaGroup
  /** A URL from `parseRemoteUrl`. */
  url: string
  /** Called before the fetch. Its error is the response. */
  beforeFetching: () => Promise<void>
  signal: AbortSignal
}

/** Stores remote files as originals. */
export interface RemoteMirror {
  /**
   * The original of a remote file. Fetches and stores the file when no original exists.
   * @throws Problem as `Remotes` and `RemoteUpload` do; 422 for a file of another group
   */
  keep(request: KeepRequest): Promise<OriginalName>
}

// Recently used originals, so that a delivery need not read the bucket: about 10,000.
const REMEMBERED_BYTES = 5_000_000
// Time in addition to the fetch: for the last part of the upload, and the records.
const STORE_MS = 60_000

/**
 * A note in the bucket, named by the digest of the URL, has the key of the original. It is written after the original's bytes and
 * before its record, which is the commit. So a crash leaves at most a note without an original, which the next request replaces,
 * and never an original without a note.
 */
export function createRemoteMirror({
  remotes,
  remoteUpload,
  originals,
  buckets,
  locks,
  timeoutMs,
}: {
  remotes: Remotes
  remoteUpload: RemoteUpload
  originals: Originals
  buckets: Buckets
  locks: Locks
  /** Time limit of a fetch. */
  timeoutMs: number
}): RemoteMirror {
  const remembered = boundedCache<ObjectKey>({
    maxBytes: REMEMBERED_BYTES,
    bytesOf: (key) => 2 * key.length,
  })

  /** The original of a key, if it still exists. */
  async function originalOf(client: Client, key: string | undefined): Promise<OriginalName | undefined> {
    const full = key === undefined ? undefined : parseKey(key)
    return full && (await originals.resolveToRead(client, { full }))?.name
  }

  async function noted(client: Client, digest: string): Promise<OriginalName | undefined> {
    const note = await snapshot(buckets.of(client), remoteRecordKey(digest))
    return note && originalOf(client, keyIn(note.bytes))
  }

  async function find(client: Client, digest: string): Promise<OriginalName | undefined> {
    const place = `${client.id} ${digest}`
    const known = await originalOf(client, remembered.get(place))
    if (known) return known
    const found = await noted(client, digest)
    if (found) remembered.set(place, found.key)
    else remembered.delete(place)
    return found
  }

  /** Runs once at a time across all processes. @returns the key of the original */
  async function store({ client, address, group, url }: KeepRequest, digest: string, signal: AbortSignal) {
    const found = await noted(client, digest)
    if (found) return found.key
    let key: ObjectKey | undefined
    const { name } = await remoteUpload({
      client,
      asker: 'anyone',
      address,
      url,
      signal,
      check: (format) => checkGroup(format, group),
      async begin(original) {
        key = original.key
      },
      async confirm() {
        await putJson(buckets.of(client), remoteRecordKey(digest), { value: { key }, signal })
      },
    })
    return name.key
  }

  return {
    async keep(request) {
      const { client, group, url, beforeFetching, signal } = request
      remotes.check(client, 'anyone')
      const digest = sha256(url)
      let name = await find(client, digest)
      if (!name) {
        remotes.checkUrl({ client, asker: 'anyone', url })
        await beforeFetching()
        const key = await locks.share(
          `keep ${client.id} ${group} ${digest}`,
          (held) => store(request, digest, held),
          { signal, limitMs: timeoutMs + STORE_MS },
        )
        name = parseKey(key)
        if (!name) throw new Error(`not an original's key: ${key}`)
        remembered.set(`${client.id} ${digest}`, name.key)
      }
      checkGroup(name.format, group)
      return name
    },
  }
}

/** @throws Problem 422 when the group of the bytes is not the one in the URL */
export function checkGroup({ group, name }: Format, expected: MediaGroup): void {
  if (group === expected) return
  throw new Problem({
    status: 422,
    code: 'wrong_type',
    detail: `expected a remote file of type ${expected} but its bytes are ${group}/${name}`,
    members: { expected, received: `${group}/${name}` },
  })
}

function keyIn(note: Buffer): string | undefined {
  try {
    const { key } = JSON.parse(note.toString('utf8'))
    return typeof key === 'string' ? key : undefined
  } catch {
    return undefined
  }
}
