import type { OriginalEntry } from '../../../core/ports/file-index.ts'
import type { RemovalCause } from '../../../core/ports/index/steps.ts'

/**
 * Whether an original in this state may be removed for this cause, for an index in this process. `beginRemoval` of `../redis/scripts.ts` has
 * the same rule in Lua: see docs/explanation/crash-safety.md. `busy`: the deadline of one of its derivatives has not passed.
 */
export function mayRemove(
  entry: OriginalEntry,
  {
    cause,
    over,
    now,
    busy,
  }: { cause: RemovalCause; over: (until: number) => boolean; now: number; busy: boolean },
): boolean {
  switch (cause) {
    case 'delete':
      return entry.state === 'stored' || entry.state === 'going'
    case 'purge':
      return entry.state === 'stored' || entry.state === 'trashed' || entry.state === 'going'
    case 'abandon':
      return entry.state === 'pending'
    case 'sweep':
      if (entry.state === 'gone') return !busy
      if (entry.state === 'trashed') return entry.trash.until <= now
      return entry.state !== 'stored' && over(entry.leaseUntil)
  }
}
