import { sha256 } from '../../core/bytes/digest.ts'
import type { Client } from '../../core/clients/client.ts'
import { type ObjectKey, type OriginalName, parseKey, remoteRecordKey } from '../../core/files/object-key.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import { putJson, snapshot } from '../../core/storage/small-object.ts'
import type { Originals } from '../originals/originals.ts'

/**
 * Notes in the bucket of a client, each with the key of the original that a file of an import became. So an import can be
 * continued on any machine, and after a loss of the index.
 */
export interface ImportNotes {
  /** The original of an imported file; undefined when it was not imported, or was deleted since then. */
  find(client: Client, digest: string): Promise<OriginalName | undefined>
  put(client: Client, digest: string, key: ObjectKey, signal: AbortSignal): Promise<void>
}

/** The name of the note about a file. The text before the identity differs from every URL, whose notes are there too. */
export function noteDigest(identity: string): string {
  return sha256(`import ${identity}`)
}

export function createImportNotes({
  originals,
  buckets,
}: {
  originals: Originals
  buckets: Buckets
}): ImportNotes {
  return {
    async find(client, digest) {
      const note = await snapshot(buckets.of(client), remoteRecordKey(digest))
      const full = note && parseKey(keyIn(note.bytes))
      return full && (await originals.resolve(client, { full }))?.name
    },
    put: (client, digest, key, signal) =>
      putJson(buckets.of(client), remoteRecordKey(digest), { value: { key }, signal }),
  }
}

function keyIn(note: Buffer): string {
  try {
    return String(JSON.parse(note.toString('utf8')).key)
  } catch {
    return ''
  }
}
