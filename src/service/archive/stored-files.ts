import { anySignal } from '../../core/async/any-signal.ts'
import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import { Problem } from '../../core/problem.ts'
import type { Delivery } from '../delivery/deliveries.ts'
import type { Checksums } from './checksums.ts'
import type { ArchiveFiles, ArchiveItem, ArchiveSources } from './sources.ts'

/** A stored file of an archive, or the error that its manifest states. */
export type Found = FoundFile | { item: ArchiveItem; error: Problem }

interface FoundFile {
  item: ArchiveItem
  delivery: Delivery
}

/** How files without a checksum are treated. */
export interface FindStoredOptions {
  /** Reads them, to compute it: at most 512 MiB, within 10 s. Default: false. */
  addsChecksums?: boolean
}

/**
 * Finds all files of an archive, in the order of the request. Each has a checksum. Undefined when a derivative has to be rendered,
 * when a checksum is missing, and during an outage.
 */
export type FindStored = (request: ArchiveFiles, options?: FindStoredOptions) => Promise<Found[] | undefined>

const CONCURRENCY = 4
// One or two seconds of a disk. The checksums of more files are computed while an archive without a length is sent.
const READ_MAX_BYTES = 512 * 1024 * 1024
const READ_MAX_MS = 10_000

/** @param options.maxBytes @param options.maxMs of the files that are read for their checksums, per archive */
export function createFindStored({
  sources,
  checksums,
  maxBytes = READ_MAX_BYTES,
  maxMs = READ_MAX_MS,
}: {
  sources: Pick<ArchiveSources, 'find'>
  checksums: Pick<Checksums, 'read'>
  maxBytes?: number
  maxMs?: number
}): FindStored {
  /** Undefined for a file that is not stored. */
  async function find(item: ArchiveItem, request: ArchiveFiles): Promise<Found | undefined> {
    try {
      const delivery = await sources.find(item, request, { isStored: true })
      return delivery.stored && { item, delivery }
    } catch (error) {
      request.signal.throwIfAborted()
      // Another request could have another result: this one would have another size.
      return error instanceof Problem && isLasting(error.status) ? { item, error } : undefined
    }
  }

  /** The results of `work` for all; undefined when one of them is. */
  async function each<T>(all: readonly T[], work: (one: T) => Promise<Found | undefined>) {
    const results: Found[] = []
    for await (const found of mapConcurrent(all, { concurrency: CONCURRENCY, work })) {
      if (!found) return undefined
      results.push(found)
    }
    return results
  }

  /** Reads the files that have no checksum, and finds them again. Undefined when that takes too long. */
  async function withChecksums(all: readonly Found[], request: ArchiveFiles): Promise<Found[] | undefined> {
    const bytes = all.filter(hasNoChecksum).reduce((sum, { delivery }) => sum + delivery.asset.size, 0)
    if (bytes > maxBytes) return undefined
    const { signal, leave } = anySignal([request.signal, AbortSignal.timeout(maxMs)])
    try {
      return await each(all, async (found) => {
        if (!hasNoChecksum(found)) return found
        await checksums.read(found.delivery, signal)
        return find(found.item, request)
      })
    } catch {
      request.signal.throwIfAborted()
      return undefined
    } finally {
      leave()
    }
  }

  return async (request, { addsChecksums = false } = {}) => {
    const all = await each(request.items, (item) => find(item, request))
    const found = all && addsChecksums ? await withChecksums(all, request) : all
    return found?.some(hasNoChecksum) ? undefined : found
  }
}

function hasNoChecksum(found: Found): found is FoundFile {
  return 'delivery' in found && found.delivery.asset.crc32 === undefined
}

/** Whether the same request would fail in the same way later. */
function isLasting(status: number): boolean {
  return status >= 400 && status < 500 && status !== 423 && status !== 429
}
