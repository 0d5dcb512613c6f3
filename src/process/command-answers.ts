import type { Totals } from '../core/ports/file-index.ts'
import { USAGE_NAMES, type UsageName } from '../core/ports/usage.ts'
import { columns } from './command-output.ts'
import { shownDuration } from './duration.ts'

/** A client as commands describe it. */
interface ShownClient {
  id: string
  name?: string
  clientToken: string
  createdAt: string
  state: 'active' | 'removing'
  oldSecretUntil?: string
  secrets?: ShownSecret[]
  storage?: { endpoint: string; bucket: string; prefix: string; accessKeyId: string }
  urlKeys?: readonly number[]
  rules?: {
    signedUrls?: true
    presetsOnly?: true
    allowedWidths?: readonly number[]
    variantLimit?: number
    fetchHosts?: readonly string[] | 'any'
    fetchDenyHosts?: readonly string[]
    keepDeletedSeconds?: number
    dedupe?: string
    uploadMaxBytes?: number
    rates?: Record<string, number>
    presets?: object
  }
}

interface ShownSecret {
  id: string
  name?: string
  only?: 'upload' | 'read'
  folder?: string
  until?: string
}

type WithSecret = ShownClient & { secretClientToken: string }

/** How each command's answer is shown to a person. */
export const ANSWERS: Readonly<Record<string, (answer: never) => string>> = {
  'client create': (client: WithSecret) => withSecret(client),
  'client rotate': (client: WithSecret) => withSecret(client),
  'client set': ({ id, rules }: ShownClient) =>
    columns([
      ['client', id],
      ['rules', shownRules(rules) || 'none: as for everyone'],
    ]),
  'client show': (client: ShownClient) => shownClient(client),
  'client secret add': (secret: ShownSecret & { secretClientToken: string }) =>
    `${columns([
      ['secret id', secret.id],
      ...(secret.name === undefined ? [] : [['name', secret.name]]),
      ['for', shownScope(secret)],
      ...(secret.until === undefined ? [] : [['until', secret.until]]),
      ['secret client token', secret.secretClientToken],
    ])}\nKeep the secret now: it is not shown again.\n`,
  'client secret remove': (client: ShownClient) => shownClient(client),
  'client storage': (client: ShownClient) => shownClient(client),
  'client key add': ({ id, urlKey }: ShownClient & { urlKey: { version: number; key: string } }) =>
    `${columns([
      ['client', id],
      ['version', String(urlKey.version)],
      ['key', urlKey.key],
    ])}\nKeep the key now: it is not shown again.\n`,
  'client key remove': ({ id, urlKeys = [] }: ShownClient) =>
    columns([
      ['client', id],
      ['keys that count', urlKeys.join(', ') || 'none'],
    ]),
  'client list': (clients: ShownClient[]) =>
    columns([
      ['ID', 'NAME', 'CLIENT TOKEN', 'CREATED', 'STATE', 'RULES'],
      ...clients.map((client) => [
        client.id,
        client.name ?? '',
        client.clientToken,
        client.createdAt,
        shownState(client),
        shownRules(client.rules),
      ]),
    ]),
  'client remove': ({ originals }: { originals: number }) =>
    `removed, with ${counted(originals, 'original')} and all that was derived\n`,
  check: (
    report: Record<'originals' | 'derivatives' | 'others' | 'inProgress', number> & { findings: object },
  ) =>
    `${counted(report.originals, 'original')}, ${counted(report.derivatives, 'derivative')}` +
    `, ${counted(report.others, 'other object')}, ${report.inProgress} in progress\n` +
    (Object.keys(report.findings).length === 0 ? 'bucket and index agree\n' : ''),
  reindex: (report: { clients: number } & Record<'originals' | 'derivatives', Filled>) =>
    columns([
      [counted(report.clients, 'client'), 'KNOWN', 'ADDED', 'LEFT'],
      ...(['originals', 'derivatives'] as const).map((name) => {
        const { known, added, left } = report[name]
        return [name, String(known), String(added), String(left)]
      }),
    ]),
  usage: (clients: ShownUsage[]) =>
    columns([
      ['CLIENT', 'FILES', 'BYTES', 'DELETED BYTES', ...USAGE_NAMES.map(heading)],
      ...clients.map(({ clientId, stored, trashed, counts }) => [
        clientId,
        ...[stored.files, stored.bytes, trashed.bytes, ...USAGE_NAMES.map((name) => counts[name])].map(
          String,
        ),
      ]),
    ]),
  sweep: ({ ended, halfWritten }: { ended: number; halfWritten: number }) =>
    `ended ${counted(ended, 'overdue upload, transformation or delete', 'overdue uploads, transformations and deletes')}` +
    `; removed ${counted(halfWritten, 'half written file')}\n`,
}

interface ShownUsage extends Totals {
  clientId: string
  counts: Record<UsageName, number>
}

interface Filled {
  known: number
  added: number
  left: number
}

function shownState({ state, oldSecretUntil, secrets = [] }: ShownClient): string {
  return [
    state,
    oldSecretUntil ? `old secret until ${oldSecretUntil}` : '',
    secrets.length > 0 ? `${counted(secrets.length, 'secret')} with a scope` : '',
  ]
    .filter(Boolean)
    .join(', ')
}

function shownClient(client: ShownClient): string {
  const { id, name, clientToken, createdAt, rules, storage, secrets = [], urlKeys = [] } = client
  const facts = columns([
    ['client', id],
    ...(name === undefined ? [] : [['name', name]]),
    ['client token (public, in URLs)', clientToken],
    ['created', createdAt],
    ['state', shownState({ ...client, secrets: [] })],
    ['rules', shownRules(rules) || 'none: as for everyone'],
    ...(storage ? [['bucket', shownStorage(storage)]] : []),
    ...(urlKeys.length > 0 ? [['keys that count', urlKeys.join(', ')]] : []),
  ])
  if (secrets.length === 0) return facts
  const rows = secrets.map((one) => [one.id, one.name ?? '', shownScope(one), one.until ?? 'for good'])
  return `${facts}\n${columns([['SECRET', 'NAME', 'FOR', 'UNTIL'], ...rows])}`
}

function shownStorage({
  endpoint,
  bucket,
  prefix,
  accessKeyId,
}: NonNullable<ShownClient['storage']>): string {
  return `${bucket}${prefix ? `, folder ${prefix}` : ''} at ${endpoint}, with the key ${accessKeyId}`
}

/** `uploads only, in team/a`. */
function shownScope({ only, folder }: ShownSecret): string {
  const what = only === undefined ? 'everything' : only === 'upload' ? 'uploads only' : 'reading only'
  return folder === undefined ? what : `${what}, in ${folder}`
}

function withSecret({ id, name, clientToken, secretClientToken, oldSecretUntil }: WithSecret): string {
  const rows = [
    ['client', id],
    ...(name === undefined ? [] : [['name', name]]),
    ['client token (public, in URLs)', clientToken],
    ['secret client token', secretClientToken],
    ...(oldSecretUntil === undefined ? [] : [['old secret works until', oldSecretUntil]]),
  ]
  return `${columns(rows)}\nKeep the secret now: it is not shown again.\n`
}

/** `presets only; widths 320, 640; 500 variants a file`, or nothing. */
function shownRules({
  signedUrls,
  presetsOnly,
  allowedWidths,
  variantLimit,
  fetchHosts,
  fetchDenyHosts,
  keepDeletedSeconds,
  dedupe,
  uploadMaxBytes,
  rates = {},
  presets = {},
}: ShownClient['rules'] = {}): string {
  const own = Object.keys(presets)
  return [
    signedUrls ? 'signed URLs only' : '',
    presetsOnly ? 'presets only' : '',
    allowedWidths ? `widths ${allowedWidths.join(', ')}` : '',
    variantLimit === undefined ? '' : `${counted(variantLimit, 'variant')} a file`,
    fetchHosts === undefined ? '' : `fetches from ${shownHosts(fetchHosts)}`,
    fetchDenyHosts ? `never from ${shownHosts(fetchDenyHosts)}` : '',
    keepDeletedSeconds === undefined ? '' : `deleted kept for ${shownDuration(keepDeletedSeconds * 1000)}`,
    dedupe === 'reuse' ? 'equal files reused' : '',
    uploadMaxBytes === undefined ? '' : `uploads of ${counted(uploadMaxBytes, 'byte')}`,
    ...Object.entries(rates).map(
      ([name, points]) => `${name} rate ${points === 0 ? 'without limit' : points}`,
    ),
    own.length > 0 ? `presets ${own.join(', ')}` : '',
  ]
    .filter(Boolean)
    .join('; ')
}

function shownHosts(hosts: readonly string[] | 'any'): string {
  if (hosts === 'any') return 'any host'
  return hosts.length === 0 ? 'nowhere' : hosts.join(', ')
}

/** `uploadedBytes` as `UPLOADED BYTES`. */
function heading(name: string): string {
  return name.replace(/[A-Z]/g, ' $&').toUpperCase()
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
