import { deliveryUrl } from '../../core/files/delivery-url.ts'
import type { OriginalName } from '../../core/files/object-key.ts'
import type { ImportCounts, ImportOutcome, ImportProgress, ImportReport } from '../../core/imports/outcome.ts'
import type { ImportItem, ImportSource } from '../../core/imports/source.ts'
import { joinedMessages } from '../../core/log-reason.ts'
import type { FileImport, ImportOptions } from './import-file.ts'

/** A source, and how its files are imported. */
export interface ImportRequest extends ImportOptions {
  source: ImportSource
  /** Maximum number of files in progress. */
  concurrency: number
  /** Whether nothing is stored. */
  isDryRun: boolean
  /** Aborts the files in progress. */
  signal: AbortSignal
  /** Ends the import after the files in progress. */
  stop?: AbortSignal | undefined
  /** Called for each file. The import waits for it. */
  found(outcome: ImportOutcome): Promise<void>
  progress(progress: ImportProgress): Promise<void>
}

/** Imports all files of a source. A file that cannot be imported does not stop the import. */
export type Import = (request: ImportRequest) => Promise<ImportReport>

const REASONS_MAX = 20

export function createImport({
  files,
  baseUrl,
  now = Date.now,
}: {
  files: FileImport
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
  now?: () => number
}): Import {
  return async (request) => {
    const { client, source, concurrency, isDryRun, signal, stop, found, progress } = request
    const startedAt = now()
    const counts: ImportCounts = { imported: 0, skipped: 0, refused: 0, accepted: 0, bytes: 0 }
    const reasons = new Map<string, number>()
    const addressOf = (name: OriginalName) => ({
      key: name.key as string,
      src: deliveryUrl(name, { baseUrl, token: client.token }),
    })

    async function imported(item: ImportItem): Promise<ImportOutcome> {
      const { from } = item
      if (isDryRun) {
        const known = await files.find(item, client)
        if (known) return { status: 'skipped', from, ...addressOf(known) }
        await files.check(item, request, signal)
        return { status: 'accepted', from }
      }
      const { name, size, isNew } = await files.store(item, request, signal)
      counts.bytes += size
      return { status: isNew ? 'imported' : 'skipped', from, ...addressOf(name) }
    }

    async function report(outcome: ImportOutcome): Promise<void> {
      counts[outcome.status] += 1
      if (outcome.status === 'refused' && (reasons.has(outcome.reason) || reasons.size < REASONS_MAX))
        reasons.set(outcome.reason, (reasons.get(outcome.reason) ?? 0) + 1)
      await found(outcome)
      await progress(total === undefined ? { ...counts } : { ...counts, total })
    }

    async function one(item: ImportItem): Promise<void> {
      const outcome = await imported(item).catch((error): ImportOutcome => {
        signal.throwIfAborted()
        return { status: 'refused', from: item.from, reason: joinedMessages(error) }
      })
      await report(outcome)
    }

    let total: number | undefined
    const counting = new AbortController()
    const counted = numberOf(source, counting.signal).then(
      (number) => {
        total = number
      },
      // The import itself reports why its source cannot be read.
      () => {},
    )
    const running = new Set<Promise<void>>()
    try {
      for await (const item of source.items(signal)) {
        if (stop?.aborted) break
        if ('refused' in item) {
          await report({ status: 'refused', from: item.from, reason: item.refused })
          continue
        }
        const work = one(item).finally(() => running.delete(work))
        // It is awaited below. Until then a rejection must not count as unhandled.
        work.catch(() => {})
        running.add(work)
        if (running.size >= concurrency) await Promise.race(running)
      }
      await Promise.all(running)
      signal.throwIfAborted()
    } finally {
      await Promise.allSettled(running)
      counting.abort(new Error('the import has finished'))
      await counted
    }
    return {
      ...counts,
      seconds: Math.round((now() - startedAt) / 100) / 10,
      reasons: Object.fromEntries(reasons),
      ...(stop?.aborted ? { isStopped: true as const } : {}),
    }
  }
}

/** Counts in parallel to the import, so that a large source does not delay it. */
async function numberOf(source: ImportSource, signal: AbortSignal): Promise<number> {
  let number = 0
  for await (const _ of source.items(signal)) number += 1
  return number
}
