import type { Readable } from 'node:stream'
import { z } from 'zod'
import type { Client } from '../../core/clients/client.ts'
import { type ObjectKey, parseKey } from '../../core/files/object-key.ts'
import type { Log } from '../../core/log.ts'
import { joinedMessages, logReason } from '../../core/log-reason.ts'
import type { Verdict } from '../../core/plugin-api/scanner.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { FileLookup, OriginalRecord } from '../../core/ports/file-index.ts'
import { type Jobs, NotYet, type WorkOptions } from '../../core/ports/jobs.ts'
import type { Metrics } from '../../core/ports/metrics.ts'
import { unlessStatus } from '../../core/problem.ts'
import type { EndedScan } from '../../core/storage/scan.ts'
import { truncate } from '../../core/text/truncate.ts'
import type { LoadedScanner } from '../../pipeline/load/load.ts'
import { originalBytes } from '../derivatives/original-bytes.ts'
import type { Annotate } from '../files/annotate.ts'
import type { Removals } from '../originals/delete.ts'
import type { OriginalEvents } from '../originals/original-events.ts'
import type { FoundOriginal, Originals } from '../originals/originals.ts'
import { type QueuedScan, SCAN_KIND } from './scan-queue.ts'

/** Runs the malware scans that `scan-queue.ts` has queued. */
export interface Scans {
  /** Starts to scan queued files in this process. */
  work(): void
}

// A scan is retried without end: a file that is never scanned is never delivered.
const PLAN: Omit<WorkOptions, 'concurrency'> = {
  limitMs: 10 * 60_000,
  attempts: Number.MAX_SAFE_INTEGER,
  retryMs: 1000,
  retryMaxMs: 2 * 60_000,
}
const AT_ONCE = 4
/** The wait for the record of a file whose upload is in progress. */
const UPLOADING_MS = 1000
const CHECK_MS = 10_000

const verdictSchema: z.ZodType<Verdict> = z.discriminatedUnion('state', [
  z.object({ state: z.literal('clean') }),
  z.object({
    state: z.literal('infected'),
    signature: z.string().min(1).transform(truncate),
    remove: z.boolean().default(false),
  }),
])

export function createScans({
  scanner: { plugin, options },
  jobs,
  presentClient,
  index,
  originals,
  buckets,
  annotate,
  removals,
  originalEvents,
  metrics,
  log,
}: {
  scanner: LoadedScanner
  jobs: Pick<Jobs, 'work'>
  /** The current client: another process may have just created or changed it. @throws Problem 503 */
  presentClient: (id: string) => Promise<Client | undefined>
  index: FileLookup
  originals: Pick<Originals, 'resolve'>
  buckets: Buckets
  annotate: Annotate
  removals: Pick<Removals, 'remove'>
  originalEvents: Pick<OriginalEvents, 'scanned'>
  metrics: Pick<Metrics, 'scanned'>
  log: Log
}): Scans {
  /** The original, once its upload is complete. Undefined when it is in the trash, or does not exist any more. */
  async function find(client: Client, key: ObjectKey): Promise<FoundOriginal | undefined> {
    const { original } = await index.find({ clientId: client.id, key })
    // Only its upload completes it: other files of the same form may still fail.
    if (original?.state === 'pending' && original.leaseUntil > Date.now()) throw new NotYet(UPLOADING_MS)
    const name = parseKey(key)
    const found = name && (await originals.resolve(client, { full: name }))
    if (!found && (original?.state === 'pending' || original?.state === 'stored'))
      throw new NotYet(UPLOADING_MS)
    return found
  }

  /** @returns undefined when the bucket has no bytes @throws Error when the scanner fails */
  async function verdictOf(client: Client, record: OriginalRecord, signal: AbortSignal) {
    const { key, originalName, mediaType, size, sha256 } = record
    const asset = await originalBytes(buckets.of(client), record)
    if (!asset) return undefined
    const opened: Readable[] = []
    const open = async () => {
      const bytes = await asset.open({ signal })
      // Without a listener, an error of a stream that the plugin does not read would end the process.
      bytes.on('error', () => {})
      opened.push(bytes)
      return bytes
    }
    const file = { clientId: client.id, key, originalName, mediaType, size, sha256, open }
    try {
      return verdictSchema.parse(await plugin.scan(file, { options, signal, log }))
    } catch (error) {
      throw withoutStack(`the scanner ${plugin.name} failed: ${logReason(error)}`)
    } finally {
      for (const bytes of opened) bytes.destroy()
    }
  }

  function ended(client: Client, record: OriginalRecord, scan: EndedScan): void {
    metrics.scanned(scan.state)
    if (scan.state === 'infected') {
      const { signature } = scan
      log.warn({ client: client.id, key: record.key, signature }, 'an uploaded file is infected')
    }
    originalEvents.scanned(client, record, scan)
  }

  /** A job that runs twice emits its event twice, because the first run may have died before it. */
  async function scan({ clientId, key }: QueuedScan, signal: AbortSignal): Promise<void> {
    const client = await presentClient(clientId)
    const found = client && (await find(client, key))
    if (!client || !found?.record.scan) return
    const { name, record } = found
    const path = { full: name }
    if (found.record.scan.state === 'clean') return ended(client, record, found.record.scan)
    // An infected file is scanned again, since its removal may have failed.
    const verdict = await verdictOf(client, record, signal)
    if (!verdict) return
    const scan = scanOf(verdict)
    // A job may run twice at once, with two results: an infected file remains infected.
    const change = (current: OriginalRecord): OriginalRecord =>
      current.scan?.state === 'infected' ? current : { ...current, scan }
    const changed = await unlessStatus(404, annotate({ client, path, change, signal }))
    const result = changed?.record.scan
    if (!changed || !result || result.state === 'waiting') return
    ended(client, changed.record, result)
    if (verdict.state === 'infected' && verdict.remove)
      await unlessStatus(404, removals.remove(client, path, true))
  }

  async function check(): Promise<void> {
    try {
      await plugin.check?.(options, { signal: AbortSignal.timeout(CHECK_MS) })
    } catch (error) {
      const reason = joinedMessages(error)
      log.warn(
        { plugin: plugin.name, reason },
        'the scanner does not work; new files are not delivered until it does',
      )
    }
  }

  return {
    work() {
      void check()
      const concurrency = plugin.atOnce ?? AT_ONCE
      jobs.work<QueuedScan>(SCAN_KIND, ({ data }, { signal }) => scan(data, signal), { ...PLAN, concurrency })
    },
  }
}

function scanOf(verdict: Verdict): EndedScan {
  return verdict.state === 'clean' ? { state: 'clean' } : { state: 'infected', signature: verdict.signature }
}

/** While a scanner is away, each waiting file fails every two minutes: their stacks must not fill the log. */
function withoutStack(message: string): Error {
  const error = new Error(message)
  error.stack = message
  return error
}
