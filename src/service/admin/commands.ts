import { z } from 'zod'
import { ruleChanges } from '../../core/clients/rules/schemas.ts'
import { GIVEN_SETTINGS } from '../../core/clients/storage-settings.ts'
import type { Command, CommandRun, Commands } from '../../core/command.ts'
import type { Finding } from '../../core/files/finding.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import { USAGE_NAMES, type UsageName } from '../../core/ports/usage.ts'
import { badParameter } from '../../core/problem.ts'
import { dayOf, daysBefore } from '../../core/text/day.ts'
import type { DeleteDerivatives } from '../derivatives/command.ts'
import type { Usage } from '../files/usage.ts'
import type { Check } from '../maintenance/check.ts'
import { walkedClients } from '../maintenance/each-client.ts'
import type { Reindex } from '../maintenance/reindex.ts'
import type { Sweep } from '../maintenance/sweep.ts'
import type { SweepPuts } from '../maintenance/sweep-partial-writes.ts'
import type { Walk } from '../maintenance/walk.ts'
import type { SweepResumables } from '../upload/resumable/sweep-resumables.ts'
import type { ManagedClients } from './clients.ts'

/** Output of a command before its result. */
export type CommandItem = { finding: Finding } | { progress: object } | { file: object }

// A terminal shows no more updates, and the socket need not carry more.
const PROGRESS_EVERY_MS = 200

const storageSettings = z.strictObject(GIVEN_SETTINGS)

/** The commands of an operator, each with its arguments as one object. Times are in milliseconds. */
export function createCommands({
  clients,
  store,
  deleteDerivatives,
  check,
  reindex,
  sweep,
  sweepPuts,
  usage,
  sweepResumables,
  now = Date.now,
}: {
  clients: ManagedClients
  store: ClientStore
  deleteDerivatives: DeleteDerivatives
  check: Check
  reindex: Reindex
  sweep: Sweep
  sweepPuts: SweepPuts
  usage: Usage
  sweepResumables: SweepResumables
  now?: () => number
}): Commands {
  return {
    'client create': command(
      z.strictObject({ name: z.string().optional(), storage: storageSettings.optional() }),
      (created) => clients.create(created),
    ),
    'client storage': command(
      z.strictObject({ id: z.string(), storage: storageSettings.or(z.literal(false)) }),
      ({ id, storage }) => clients.setStorage(id, storage || undefined),
    ),
    'client list': command(z.strictObject({}), () => clients.list()),
    'client show': command(z.strictObject({ id: z.string() }), ({ id }) => clients.show(id)),
    'client rotate': command(
      z.strictObject({ id: z.string(), keepOldMs: z.int().min(0) }),
      ({ id, keepOldMs }) => clients.rotate(id, { keepOldMs }),
    ),
    'client secret add': command(
      z.strictObject({
        id: z.string(),
        name: z.string().optional(),
        only: z.enum(['upload', 'read']).optional(),
        folder: z.string().optional(),
        validMs: z.int().min(1).optional(),
      }),
      ({ id, name, validMs, only, folder }) =>
        clients.addSecret(id, {
          name,
          validMs,
          scope: { ...(only ? { only } : {}), ...(folder === undefined ? {} : { folder }) },
        }),
    ),
    'client secret remove': command(
      z.strictObject({ id: z.string(), secretId: z.string() }),
      ({ id, secretId }) => clients.removeSecret(id, secretId),
    ),
    'client set': command(
      z.strictObject({
        id: z.string(),
        ...ruleChanges(z.literal(false)),
      }),
      ({ id, ...rules }) => clients.update(id, { rules }),
    ),
    'client key add': command(z.strictObject({ id: z.string() }), ({ id }) => clients.addUrlKey(id)),
    'client key remove': command(
      z.strictObject({ id: z.string(), version: z.int().min(1) }),
      ({ id, version }) => clients.removeUrlKey(id, version),
    ),
    'client remove': command(
      z.strictObject({ id: z.string(), files: z.boolean() }),
      async ({ id, files }, { signal, report }) => {
        const progress = throttledProgress(report)
        return clients.remove(id, { files, signal, progress: (originals) => progress({ originals }) })
      },
    ),
    'derivatives delete': command(
      z.strictObject({ clientId: z.string(), path: z.string(), before: z.number().optional() }),
      (request, { signal }) => deleteDerivatives(request, signal),
    ),
    check: command(
      z.strictObject({ clientId: z.string().optional(), digests: z.boolean().optional() }),
      ({ clientId, digests = false }, run) => check({ ...walk(clientId, run), digests }),
    ),
    reindex: command(z.strictObject({ clientId: z.string().optional() }), ({ clientId }, run) =>
      reindex(walk(clientId, run)),
    ),
    /** Covers the last 30 days, including today. */
    usage: command(z.strictObject({ clientId: z.string().optional() }), async ({ clientId }) => {
      const to = dayOf(now())
      const usages = []
      for (const { id } of await walkedClients(store, clientId)) {
        const { stored, days } = await usage.of(id, { from: daysBefore(to, 29), to })
        const sum = (name: UsageName) => days.reduce((total, day) => total + day[name], 0)
        const counts = Object.fromEntries(USAGE_NAMES.map((name) => [name, sum(name)]))
        usages.push({ clientId: id, ...stored, counts })
      }
      return usages
    }),
    sweep: command(z.strictObject({}), async () => ({
      ended: (await sweep()) + (await sweepResumables()),
      halfWritten: await sweepPuts(),
    })),
  }
}

/** A command with validated arguments. */
export function command<T>(
  args: z.ZodType<T>,
  work: (args: T, run: CommandRun) => Promise<unknown>,
): Command {
  return async (received, run) => {
    const parsed = args.safeParse(received)
    if (!parsed.success)
      // The received arguments are not shown: there may be a secret among them.
      throw badParameter({
        param: 'arguments',
        expected: z.prettifyError(parsed.error),
        received: 'invalid arguments',
      })
    return work(parsed.data, run)
  }
}

function walk(clientId: string | undefined, { signal, report }: CommandRun): Walk {
  return {
    clientId,
    signal,
    found: (finding) => report({ finding } satisfies CommandItem),
    progress: throttledProgress(report),
  }
}

/** Reports progress at once, and then at most every {@link PROGRESS_EVERY_MS}. */
export function throttledProgress(report: CommandRun['report']) {
  let last = Number.NEGATIVE_INFINITY
  return async (progress: object): Promise<void> => {
    const at = performance.now()
    if (at < last + PROGRESS_EVERY_MS) return
    last = at
    await report({ progress } satisfies CommandItem)
  }
}
