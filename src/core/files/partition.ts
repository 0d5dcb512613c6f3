import crc32 from 'crc-32'

/** The number of partitions of an index in a cluster. It must never change: it decides where entries are. */
export const PARTITIONS = 64

/**
 * The hash of a file id, from 0 to {@link PARTITIONS} (exclusive), which decides its partition. It depends on the id alone, so all
 * keys of a file have the same one.
 *
 * @param id a file id, or text that begins with one
 */
export function partitionHash(id: string): number {
  return (crc32.str(id.slice(0, 22)) >>> 0) % PARTITIONS
}

/** {@link partitionHash} of the original with this key: its last segment begins with the id. */
export function partitionHashOfKey(key: string): number {
  return partitionHash(key.slice(key.lastIndexOf('/') + 1))
}
