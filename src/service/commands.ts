import { z } from 'zod'
import { type Client, FIRST_CLIENT_ID, isValid } from '../core/client.ts'
import type { Command, CommandRun, Commands } from '../core/command.ts'
import type { Finding } from '../core/finding.ts'
import type { ClientStore } from '../core/ports/client-store.ts'
import { badParameter } from '../core/problem.ts'
import type { Check } from './check.ts'
import type { Clients } from './clients.ts'
import type { Reindex } from './reindex.ts'
import type { RemoveClient } from './remove-client.ts'
import type { Sweep } from './sweep.ts'
import type { SweepPuts } from './sweep-puts.ts'
import type { SweepResumables } from './sweep-resumables.ts'
import type { Walk } from './walk.ts'

/** What a command tells before its answer. */
export type Told = { finding: Finding } | { progress: object }

// A terminal shows no more, and a socket need not carry it.
const PROGRESS_EVERY_MS = 200

/** What an operator may ask for, each with its arguments as one object; times in milliseconds. */
export function createCommands({
  clients,
  store,
  removeClient,
  check,
  reindex,
  sweep,
  sweepPuts,
  sweepResumables,
  now = Date.now,
}: {
  clients: Clients
  store: ClientStore
  removeClient: RemoveClient
  check: Check
  reindex: Reindex
  sweep: Sweep
  sweepPuts: SweepPuts
  sweepResumables: SweepResumables
  now?: () => number
}): Commands {
  return {
    'client create': command(z.strictObject({ name: z.string().optional() }), async ({ name }) => {
      const { client, tokens } = await clients.create({ name })
      return { ...describe(client, now()), ...tokens }
    }),
    'client list': command(z.strictObject({}), async () => {
      await store.refresh()
      return [...store.list()].sort(byAge).map((client) => describe(client, now()))
    }),
    'client rotate': command(
      z.strictObject({ id: z.string(), keepOldMs: z.int().min(0) }),
      async ({ id, keepOldMs }) => {
        const { client, tokens } = await clients.rotate(id, { keepOldMs })
        return { ...describe(client, now()), ...tokens }
      },
    ),
    'client set': command(
      z.strictObject({
        id: z.string(),
        signedUrls: z.boolean().optional(),
        presetsOnly: z.boolean().optional(),
        allowedWidths: z.array(z.number()).or(z.literal(false)).optional(),
        variantLimit: z.number().or(z.literal(false)).optional(),
      }),
      async ({ id, ...changes }) => describe(await clients.setRules(id, changes), now()),
    ),
    'client key add': command(z.strictObject({ id: z.string() }), async ({ id }) => {
      const { client, urlKey } = await clients.addUrlKey(id)
      return { ...describe(client, now()), urlKey }
    }),
    'client key remove': command(
      z.strictObject({ id: z.string(), version: z.int().min(1) }),
      async ({ id, version }) => describe(await clients.removeUrlKey(id, version), now()),
    ),
    'client remove': command(
      z.strictObject({ id: z.string(), files: z.boolean() }),
      async ({ id, files }, { signal, tell }) => {
        const progress = nowAndThen(tell)
        return removeClient(id, { files, signal, progress: (originals) => progress({ originals }) })
      },
    ),
    check: command(z.strictObject({ clientId: z.string().optional() }), ({ clientId }, run) =>
      check(walk(clientId, run)),
    ),
    reindex: command(z.strictObject({ clientId: z.string().optional() }), ({ clientId }, run) =>
      reindex(walk(clientId, run)),
    ),
    sweep: command(z.strictObject({}), async () => ({
      ended: (await sweep()) + (await sweepResumables()),
      halfWritten: await sweepPuts(),
    })),
  }
}

function command<T>(args: z.ZodType<T>, work: (args: T, run: CommandRun) => Promise<unknown>): Command {
  return async (received, run) => {
    const parsed = args.safeParse(received)
    if (!parsed.success)
      throw badParameter({ param: 'arguments', expected: z.prettifyError(parsed.error), received })
    return work(parsed.data, run)
  }
}

/** A client as an operator sees it: no secret, nor what is kept of one. */
function describe({ id, name, token, createdAt, secrets, urlKeys, rules, removing }: Client, now: number) {
  const ends = secrets.filter((one) => isValid(one, now)).flatMap(({ validUntil }) => validUntil ?? [])
  return {
    id,
    ...(name === undefined ? {} : { name }),
    clientToken: token,
    createdAt: new Date(createdAt).toISOString(),
    state: removing ? 'removing' : 'active',
    ...(rules ? { rules } : {}),
    ...(urlKeys?.active.length ? { urlKeys: urlKeys.active.map(({ version }) => version) } : {}),
    ...(ends.length > 0 ? { oldSecretUntil: new Date(Math.max(...ends)).toISOString() } : {}),
  }
}

/** The first client first. */
function byAge(one: Client, other: Client): number {
  if (one.id === FIRST_CLIENT_ID) return -1
  if (other.id === FIRST_CLIENT_ID) return 1
  return one.createdAt - other.createdAt
}

function walk(clientId: string | undefined, { signal, tell }: CommandRun): Walk {
  return {
    clientId,
    signal,
    found: (finding) => tell({ finding } satisfies Told),
    progress: nowAndThen(tell),
  }
}

/** Tells the progress at once, and then no more often than anyone can read it. */
function nowAndThen(tell: CommandRun['tell']) {
  let last = Number.NEGATIVE_INFINITY
  return async (progress: object): Promise<void> => {
    const at = performance.now()
    if (at < last + PROGRESS_EVERY_MS) return
    last = at
    await tell({ progress } satisfies Told)
  }
}
