import { columns } from './command-output.ts'

/** A client as commands describe it. */
interface ShownClient {
  id: string
  name?: string
  clientToken: string
  createdAt: string
  state: 'active' | 'removing'
  oldSecretUntil?: string
  urlKeys?: readonly number[]
  rules?: { signedUrls?: true; presetsOnly?: true; allowedWidths?: readonly number[]; variantLimit?: number }
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
        client.oldSecretUntil ? `${client.state}, old secret until ${client.oldSecretUntil}` : client.state,
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
  sweep: ({ ended, halfWritten }: { ended: number; halfWritten: number }) =>
    `ended ${counted(ended, 'overdue upload, transformation or delete', 'overdue uploads, transformations and deletes')}` +
    `; removed ${counted(halfWritten, 'half written file')}\n`,
}

interface Filled {
  known: number
  added: number
  left: number
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
}: ShownClient['rules'] = {}): string {
  return [
    signedUrls ? 'signed URLs only' : '',
    presetsOnly ? 'presets only' : '',
    allowedWidths ? `widths ${allowedWidths.join(', ')}` : '',
    variantLimit === undefined ? '' : `${counted(variantLimit, 'variant')} a file`,
  ]
    .filter(Boolean)
    .join('; ')
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
