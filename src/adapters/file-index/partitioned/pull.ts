import type { FileRef } from '../../../core/files/file-ref.ts'
import { unavailable } from '../../../core/problem.ts'
import type { RedisKeyspace } from '../../redis/keyspaces.ts'
import { originalEntry } from '../redis/entries.ts'
import { nameOf, ownerOf } from '../redis/names.ts'
import { keyNames } from '../redis/redis.ts'
import { searchText } from '../redis/search.ts'
import { divisionKey, textOf } from './divisions.ts'
import { addFile, dropFile, readFile } from './move-scripts.ts'
import { firstPartition, type Move, partitionNumber } from './partitions.ts'

// Much longer than a process can have an old copy of a file before it adds it: its commands fail after 1.5 seconds.
const REMEMBERED_SECONDS = 3600
const NOT_CHECKED = ''
const HAS_ENDED = 0

/**
 * Moves a file from one partition to another, in three steps: read, add, drop. Since nothing changes the file in the first partition,
 * and a process changes it in the second one only after the third step, each step may be repeated, by any process.
 *
 * @returns whether the first partition had the file
 * @throws Problem 503 when the move is not the current one: this process has an old division of the client
 */
export async function pullFile(
  ref: FileRef,
  move: Move,
  keyspaces: readonly RedisKeyspace[],
): Promise<boolean> {
  const name = nameOf(ref)
  const [from, to] = [move.from, move.to].map((count) => partitionNumber(ref, count)) as [number, number]
  const at = (number: number) => {
    const keyspace = keyspaces[number] as RedisKeyspace
    const expected = number === firstPartition(ref.clientId) ? textOf(move) : NOT_CHECKED
    return { ...keyspace, keys: keysOf(keyspace, ref), expected }
  }
  const [before, after] = [at(from), at(to)]
  const found = ofThisMove(await readFile(before.redis, before.keys, [name, before.expected]))
  if (!Array.isArray(found) || found.length === 0) return false
  const added = `${after.keyPrefix}moved:${ownerOf(ref.clientId)}${move.id}`
  const args = [name, after.expected, searchTextIn(ref, found), REMEMBERED_SECONDS, ...found]
  if (ofThisMove(await addFile(after.redis, [...after.keys, added], args)) === HAS_ENDED) return false
  ofThisMove(await dropFile(before.redis, before.keys, [name, before.expected]))
  return true
}

/** Removes a file from a partition that it does not belong to. */
export async function dropCopy(ref: FileRef, from: RedisKeyspace): Promise<void> {
  await dropFile(from.redis, keysOf(from, ref), [nameOf(ref), NOT_CHECKED])
}

function keysOf({ keyPrefix }: RedisKeyspace, ref: FileRef): string[] {
  return [...keyNames(keyPrefix).keys(ref), divisionKey(keyPrefix, ref.clientId)]
}

function ofThisMove(answer: unknown): unknown {
  if (answer === -1) throw unavailable('The files of this client have moved. Retry in a second.')
  return answer
}

function searchTextIn(ref: FileRef, found: readonly string[]): string {
  for (let i = 0; i < found.length; i += 4) {
    if (found[i] !== '') continue
    const entry = originalEntry(ref.key, found[i + 1] ?? '')
    return 'record' in entry ? searchText(entry.record) : ''
  }
  return ''
}
