import { readFileSync } from 'node:fs'

// Memory grows by at most 2 GB/s: the next read sees at most 100 MB above the limit.
const LOOK_MS = 50
const PAGE_BYTES = 4096

/**
 * Reads the memory of a process every 50 ms, and calls `tooMuch` once when it exceeds the limit. Linux only: on other
 * systems the process is not watched.
 *
 * @param options.maxBytes limit of resident memory
 * @returns a function that ends the watch
 */
export function watchMemory(
  pid: number,
  { maxBytes, tooMuch }: { maxBytes: number; tooMuch: () => void },
): () => void {
  const looking = setInterval(() => {
    if (residentBytes(pid) <= maxBytes) return
    clearInterval(looking)
    tooMuch()
  }, LOOK_MS)
  return () => clearInterval(looking)
}

/** Resident memory, see proc(5); 0 without such a process or without `/proc`. */
function residentBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES
  } catch {
    return 0
  }
}
