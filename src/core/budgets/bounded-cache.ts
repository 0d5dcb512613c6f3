import { LRUCache } from 'lru-cache'

// An entry of the cache, with its place in the order of uses.
const ENTRY_BYTES = 200

/** Options of {@link boundedCache}. */
export interface BoundedCacheOptions<V> {
  /** The size of all entries together. Beyond it, the least recently used ones are removed. */
  maxBytes: number
  /** The memory of a value; default: 0, for values like `true` and numbers. */
  bytesOf?: (value: V) => number
  /** When entries expire; default: never. */
  ttlMs?: number
}

/**
 * A cache in the memory of this process, for keys that callers choose: it is bounded in bytes, not in entries, so
 * that long keys cannot exhaust the memory.
 */
export function boundedCache<V extends {}>({
  maxBytes,
  bytesOf = () => 0,
  ttlMs = 0,
}: BoundedCacheOptions<V>): LRUCache<string, V> {
  return new LRUCache({
    maxSize: maxBytes,
    // Two bytes for each character of a text that is not Latin.
    sizeCalculation: (value, key) => ENTRY_BYTES + 2 * key.length + bytesOf(value),
    ttl: ttlMs,
  })
}
