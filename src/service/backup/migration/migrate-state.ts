import type { StateReport } from '../../../core/backup/report.ts'
import type { AuditStore, StoredEntry } from '../../../core/ports/audit-log.ts'
import { type DeliveryLog, positionOf } from '../../../core/ports/events/delivery-log.ts'
import type { JobRequest, Jobs } from '../../../core/ports/jobs.ts'
import type { Ledger, LedgerEntry } from '../../../core/ports/ledger.ts'
import type { DayUsage, UsageName, UsageStore } from '../../../core/ports/usage.ts'
import { NAME as COMPARISON } from '../../maintenance/comparison/progress.ts'

/** The state of a service that has stopped, apart from its files and their index. */
export interface FormerState {
  ledger: readonly LedgerEntry[]
  usage: readonly DayUsage[]
  audit: Pick<AuditStore, 'list'>
  deliveries: Pick<DeliveryLog, 'list' | 'find'>
  /** Jobs that have not ended. */
  jobs: readonly JobRequest[]
}

/** Where the state is copied. */
export interface NewState {
  ledger: Ledger
  usage: UsageStore
  audit: AuditStore
  /** Absent without event plugins. */
  deliveries?: DeliveryLog | undefined
  jobs: Pick<Jobs, 'enqueue'>
}

const PAGE = 1000

/**
 * Copies the state of a service to another place, in which a service may have run already: what is there remains as it is. Repeated after
 * an interruption, it copies the rest. Of the usage of a day that both have, the larger counts remain.
 *
 * @throws Problem 503, `signal.reason`
 */
export async function migrateState(
  from: FormerState,
  to: NewState,
  signal: AbortSignal,
): Promise<StateReport> {
  let texts = 0
  for (const { name, text, forgetAt } of from.ledger) {
    signal.throwIfAborted()
    // The new place has another index.
    if (name === COMPARISON) continue
    if (await to.ledger.replace(name, undefined, text, { forgetAt })) texts += 1
  }
  let days = 0
  for (const day of from.usage) {
    signal.throwIfAborted()
    if (await addMissing(day, to.usage)) days += 1
  }
  const audit = await copyAudit(from.audit, to.audit, signal)
  const deliveries = to.deliveries ? await copyDeliveries(from.deliveries, to.deliveries, signal) : 0
  for (const job of from.jobs) {
    signal.throwIfAborted()
    await to.jobs.enqueue(job)
  }
  return { ledger: texts, usage: days, audit, deliveries, jobs: from.jobs.length }
}

/** Adds what a day has more than the same day in `to`. @returns whether that is anything */
async function addMissing({ clientId, day, counts }: DayUsage, to: UsageStore): Promise<boolean> {
  const [present] = await to.read(clientId, [day])
  const more = Object.entries(counts)
    .map(([name, count]) => [name, count - (present?.counts[name as UsageName] ?? 0)] as const)
    .filter(([, by]) => by > 0)
  if (more.length > 0) await to.add([{ clientId, day, counts: Object.fromEntries(more) }])
  return more.length > 0
}

/** Entries are ordered by their arrival, so they are only copied before any others. @returns how many */
async function copyAudit(from: FormerState['audit'], to: AuditStore, signal: AbortSignal): Promise<number> {
  const [latest] = await to.list({ limit: 1 })
  const missing: StoredEntry[] = []
  let isKnown = latest === undefined
  for (let before: string | undefined; ; ) {
    const page = await from.list({ before, limit: PAGE })
    const known = latest ? page.findIndex((one) => textOf(one) === textOf(latest)) : -1
    isKnown ||= known >= 0
    missing.push(...(known < 0 ? page : page.slice(0, known)))
    if (known >= 0 || page.length < PAGE) break
    before = page.at(-1)?.id
  }
  if (!isKnown) return 0
  for (const { id: _, ...entry } of missing.reverse()) {
    signal.throwIfAborted()
    await to.append(entry)
  }
  return missing.length
}

/** An entry without its ID, which each log assigns. */
function textOf({ id: _, ...entry }: StoredEntry): string {
  return JSON.stringify(entry)
}

async function copyDeliveries(
  from: FormerState['deliveries'],
  to: DeliveryLog,
  signal: AbortSignal,
): Promise<number> {
  let copied = 0
  for (let before: string | undefined; ; ) {
    const page = await from.list({ before, limit: PAGE })
    for (const { id } of page) {
      signal.throwIfAborted()
      const delivery = (await to.find(id)) ? undefined : await from.find(id)
      if (!delivery) continue
      await to.add(delivery)
      copied += 1
    }
    const last = page.at(-1)
    if (!last || page.length < PAGE) return copied
    before = positionOf(last)
  }
}
