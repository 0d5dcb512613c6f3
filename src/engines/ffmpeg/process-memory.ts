import { readFileSync } from 'node:fs'

// Memory grows by 2 GB/s at most: 100 MB past the limit by the next look.
const LOOK_MS = 50
const PAGE_BYTES = 4096

/**
 * Looks at the memory of a process every 50 ms, and kills it once when that is past a limit. Linux only: elsewhere the
 * process is not watched.
 *
 * @param options.maxBytes of resident memory
 * @returns ends it
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

/** In memory now, see proc(5); 0 where there is no such process or no such file. */
function residentBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES
  } catch {
    return 0
  }
}
