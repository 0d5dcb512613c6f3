import type { FileRef } from '../../../core/files/file-ref.ts'
import type { RedisKeyspace } from '../../redis/keyspaces.ts'
import { ifReadable } from '../redis/entries/packed.ts'
import { joined, PIECES } from '../redis/entries/pieces.ts'
import { keyNames } from '../redis/keys.ts'
import { nameOf } from '../redis/names.ts'
import { textsIn } from '../redis/search/search.ts'
import { type Division, partitionNumber } from './division.ts'
import { addFiles, dropFiles, readFiles } from './move-scripts.ts'

/** Files that are read at a time. */
export const PULLED_AT_ONCE = 128
// With these and the values of one more file, a response has at most 150 kB, unless the entries have long JSONs.
const VALUES_MAX = 3000
// One script adds or drops files of this weight in about 3 to 6 ms. A file that has more is alone.
const WEIGHT_MAX = 300

/** A file in its old partition. */
interface Found {
  ref: FileRef
  /** As `readFiles` returns them. */
  fields: Buffer[]
  /** The entry of its original, unless it is lost. */
  entry: Buffer | undefined
  /** The texts by which it is found. */
  texts: string
}

/**
 * Moves files of one client into their partitions by a division, in three steps: read, add, drop. The first one raises the fence of the
 * old partition, so nothing changes the files there any more, and a process changes them in the new one only after the third step.
 * So each step may be repeated, by any process.
 *
 * @param add the second step, which a full Redis refuses unless it is `addFilesToChange`
 * @returns how many files there were in the old partitions
 * @throws StaleDivision when the client has another division
 */
export async function pullFiles(
  refs: readonly FileRef[],
  { from, to, epoch }: Division,
  keyspaces: readonly RedisKeyspace[],
  add = addFiles,
): Promise<number> {
  const groups = new Map<string, { before: RedisKeyspace; after: RedisKeyspace; some: FileRef[] }>()
  for (const ref of refs) {
    const [old, next] = [partitionNumber(ref, from), partitionNumber(ref, to)]
    if (old === next) continue
    const group = groups.get(`${old} ${next}`)
    if (group) group.some.push(ref)
    else
      groups.set(`${old} ${next}`, {
        before: keyspaces[old] as RedisKeyspace,
        after: keyspaces[next] as RedisKeyspace,
        some: [ref],
      })
  }
  const counts = await Promise.all(
    [...groups.values()].map(({ before, after, some }) => pullBetween(some, { before, after, epoch, add })),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

async function pullBetween(
  refs: readonly FileRef[],
  {
    before,
    after,
    epoch,
    add,
  }: { before: RedisKeyspace; after: RedisKeyspace; epoch: number; add: typeof addFiles },
): Promise<number> {
  let pulled = 0
  for (let left = refs; left.length > 0; ) {
    const some = left.slice(0, PULLED_AT_ONCE)
    const args = [...some.map(nameOf), VALUES_MAX]
    const read = (await readFiles(before.redis, keysIn(before, some, epoch), args)) as Buffer[][]
    const found = some.flatMap((ref, i) => (read[i]?.length ? [foundIn(ref, read[i])] : []))
    for (const part of partsOf(found)) {
      const files = part.filter(({ entry }) => entry)
      if (files.length > 0) {
        const lists = files.flatMap(({ texts, fields }) => [texts, fields.length, ...fields])
        const added = files.map(({ ref }) => ref)
        await add(after.redis, keysIn(after, added, epoch), [...added.map(nameOf), ...lists])
      }
      const dropped = part.map(({ ref }) => ref)
      await dropFrom(before, dropped, epoch)
      pulled += files.length
    }
    left = left.slice(read.length)
  }
  return pulled
}

function foundIn(ref: FileRef, fields: Buffer[]): Found {
  const entry = entryIn(fields)
  return { ref, fields, entry, texts: ifReadable(() => textsIn(ref.key, entry)) ?? '' }
}

/** Files in parts that one script adds or drops, in their order. */
function partsOf(files: readonly Found[]): Found[][] {
  const parts: Found[][] = []
  let left = 0
  for (const file of files) {
    const weight = weightOf(file)
    if (weight > left) {
      parts.push([])
      left = WEIGHT_MAX
    }
    parts.at(-1)?.push(file)
    left -= weight
  }
  return parts
}

/** About how long a file takes: each part of its name is a term of the search, each derivative a member of a list, each folder has counters. */
function weightOf({ ref, fields, texts }: Found): number {
  // A key ends with the group, the format and the id.
  const folders = Math.max(0, ref.key.split('/').length - 3)
  return 1 + texts.length / 20 + fields.length / 4 + 2 * folders
}

/** The entry of an original among the fields of its hash, with their values. */
function entryIn(fields: readonly Buffer[]): Buffer | undefined {
  const pieces: Array<Buffer | undefined> = PIECES.map(() => undefined)
  for (let i = 0; i < fields.length; i += 2) {
    const piece = PIECES.indexOf(String(fields[i]) as (typeof PIECES)[number])
    if (piece >= 0) pieces[piece] = fields[i + 1]
  }
  return joined(pieces)
}

/** Removes files of one client from a partition. @throws StaleDivision when the client has another division */
export async function dropFrom(
  keyspace: RedisKeyspace,
  refs: readonly FileRef[],
  epoch: number,
): Promise<void> {
  await dropFiles(keyspace.redis, keysIn(keyspace, refs, epoch), refs.map(nameOf))
}

function keysIn({ keyPrefix }: RedisKeyspace, refs: readonly FileRef[], epoch: number) {
  const [first, ...others] = refs as [FileRef, ...FileRef[]]
  return keyNames(keyPrefix).fencedKeys(epoch)(first, ...others)
}
