import type { StateReport } from '../../core/backup/report.ts'
import type { PartitionedClient, PartitionReport } from '../../core/clients/partitioned-client.ts'
import type { ShownClient, ShownSecret } from '../../core/clients/shown-client.ts'
import type { Totals } from '../../core/ports/index/listed-state.ts'
import { USAGE_NAMES, type UsageName } from '../../core/ports/usage.ts'
import { counted } from '../../core/text/plural.ts'
import {
  NO_RULES,
  shownClient,
  shownMove,
  shownRules,
  shownScope,
  shownState,
  shownTokens,
  type WithSecret,
} from './format-client.ts'
import { columns } from './output.ts'
import { WEBHOOK_RESULTS } from './webhook-commands.ts'

const THOUSANDS = new Intl.NumberFormat('en')

/** The text of each command's result. */
export const RESULT_TEXTS: Readonly<Record<string, (result: never) => string>> = {
  'client create': (client: WithSecret) => shownTokens(client),
  'client rotate': (client: WithSecret) => shownTokens(client),
  'client set': ({ id, rules }: ShownClient) =>
    columns([
      ['client', id],
      ['rules', shownRules(rules) || NO_RULES],
    ]),
  'client show': (client: PartitionedClient) => shownClient(client),
  'client secret add': (secret: ShownSecret & { secretClientToken: string }) =>
    `${columns([
      ['secret id', secret.id],
      ...(secret.name === undefined ? [] : [['name', secret.name]]),
      ['scope', shownScope(secret)],
      ...(secret.until === undefined ? [] : [['expires', secret.until]]),
      ['secret client token', secret.secretClientToken],
    ])}\nStore the secret now: it is not shown again.\n`,
  'client secret remove': (client: ShownClient) => shownClient(client),
  'client storage': (client: ShownClient) => shownClient(client),
  'client key add': ({ id, urlKey }: ShownClient & { urlKey: { version: number; key: string } }) =>
    `${columns([
      ['client', id],
      ['version', String(urlKey.version)],
      ['key', urlKey.key],
    ])}\nStore the key now: it is not shown again.\n`,
  'client key remove': ({ id, urlKeys = [] }: ShownClient) =>
    columns([
      ['client', id],
      ['active keys', urlKeys.join(', ') || 'none'],
    ]),
  'client list': (clients: PartitionedClient[]) =>
    columns([
      ['ID', 'NAME', 'CLIENT TOKEN', 'CREATED', 'STATE', 'RULES'],
      ...clients.map((client) => [
        client.id,
        client.name ?? '',
        client.clientToken,
        client.createdAt,
        [shownState(client), shownMove(client)].filter(Boolean).join(', '),
        shownRules(client.rules),
      ]),
    ]),
  'client partition': (report: PartitionReport) =>
    report.isChanged
      ? `${report.id}: ${counted(report.partitions, 'partition')}, ${THOUSANDS.format(report.files)} ${report.files === 1 ? 'file' : 'files'} moved in ${report.seconds} s\n`
      : `${report.id} has ${counted(report.partitions, 'partition')} already\n`,
  'migrate-state': ({ ledger, usage, audit, deliveries, jobs }: StateReport) =>
    `${columns([
      ['ledger', counted(ledger, 'entry', 'entries')],
      ['usage', counted(usage, 'day')],
      ['audit log', counted(audit, 'entry', 'entries')],
      ['delivery log', counted(deliveries, 'entry', 'entries')],
      ['jobs', String(jobs)],
    ])}Start the service with these variables now.\n`,
  'client remove': ({ originals }: { originals: number }) =>
    `removed, with ${counted(originals, 'original')} and all derivatives\n`,
  'derivatives delete': ({
    originals,
    derivatives,
    bytes,
  }: Record<'originals' | 'derivatives' | 'bytes', number>) =>
    `deleted ${counted(derivatives, 'derivative')} of ${counted(originals, 'original')}, ${counted(bytes, 'byte')}\n`,
  check: (
    report: Record<'originals' | 'derivatives' | 'others' | 'inProgress', number> & {
      findings: object
      bytesRead?: number
    },
  ) =>
    `${counted(report.originals, 'original')}, ${counted(report.derivatives, 'derivative')}` +
    `, ${counted(report.others, 'other object')}, ${report.inProgress} in progress\n` +
    (report.bytesRead === undefined ? '' : `compared the SHA-256 of ${counted(report.bytesRead, 'byte')}\n`) +
    (Object.keys(report.findings).length === 0 ? 'bucket and index agree\n' : ''),
  reindex: (report: ReindexResult) =>
    columns([
      [counted(report.clients, 'client'), 'KNOWN', 'ADDED', 'SKIPPED'],
      ...(['originals', 'derivatives'] as const).map((name) => {
        const { known, added, left } = report[name]
        return [name, String(known), String(added), String(left)]
      }),
    ]) +
    (report.originals.removed > 0
      ? `removed from the index: ${counted(report.originals.removed, 'deleted original')}\n`
      : ''),
  usage: (clients: ShownUsage[]) =>
    columns([
      ['CLIENT', 'FILES', 'BYTES', 'SOFT-DELETED BYTES', ...USAGE_NAMES.map(heading)],
      ...clients.map(({ clientId, stored, trashed, counts }) => [
        clientId,
        ...[stored.files, stored.bytes, trashed.bytes, ...USAGE_NAMES.map((name) => counts[name])].map(
          String,
        ),
      ]),
    ]),
  ...WEBHOOK_RESULTS,
  'sign-in-link': ({ link }: { link: string }) => `${link}\n`,
  sweep: ({ ended, halfWritten }: { ended: number; halfWritten: number }) =>
    `cleaned up ${counted(ended, 'abandoned upload, transformation or delete', 'abandoned uploads, transformations and deletes')}` +
    `; deleted ${counted(halfWritten, 'incomplete file')}\n`,
}

interface ShownUsage extends Totals {
  clientId: string
  counts: Record<UsageName, number>
}

interface ReindexResult {
  clients: number
  originals: Filled & { removed: number }
  derivatives: Filled
}

interface Filled {
  known: number
  added: number
  left: number
}

/** `uploadedBytes` as `UPLOADED BYTES`. */
function heading(name: string): string {
  return name.replace(/[A-Z]/g, ' $&').toUpperCase()
}
