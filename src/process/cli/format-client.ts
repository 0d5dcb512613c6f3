import type { StorageConnection } from '../../core/clients/client-storage.ts'
import type { PartitionedClient } from '../../core/clients/partitioned-client.ts'
import type { Rule } from '../../core/clients/rules/rule.ts'
import { CLIENT_RULES, type ClientRules, RULE_NAMES } from '../../core/clients/rules/table.ts'
import type { ShownClient, ShownSecret } from '../../core/clients/shown-client.ts'
import { counted } from '../../core/text/plural.ts'
import { columns } from './output.ts'

/** Shown when a client has no rules of its own. */
export const NO_RULES = 'none (the defaults apply)'

export type WithSecret = ShownClient & { secretClientToken: string }

/** `active, old secret until 2026-11-30T10:00:00.000Z, 2 scoped secrets`. */
export function shownState({ state, oldSecretUntil, secrets = [] }: ShownClient): string {
  return [
    state,
    oldSecretUntil ? `old secret until ${oldSecretUntil}` : '',
    secrets.length > 0 ? counted(secrets.length, 'scoped secret') : '',
  ]
    .filter(Boolean)
    .join(', ')
}

/** A client with its scoped secrets. */
export function shownClient({ secrets = [], ...client }: PartitionedClient): string {
  const { id, name, clientToken, createdAt, rules, storage, urlKeys = [] } = client
  const facts = columns([
    ['client', id],
    ...(name === undefined ? [] : [['name', name]]),
    ['client token (public, in URLs)', clientToken],
    ['created', createdAt],
    ['state', shownState(client)],
    ['rules', shownRules(rules) || NO_RULES],
    ...(storage ? [['bucket', shownStorage(storage)]] : []),
    ...(urlKeys.length > 0 ? [['active keys', urlKeys.join(', ')]] : []),
    ...(client.partitions === undefined ? [] : [['partitions', shownPartitions(client)]]),
  ])
  if (secrets.length === 0) return facts
  const rows = secrets.map((one) => [one.id, one.name ?? '', shownScope(one), one.until ?? 'never'])
  return `${facts}\n${columns([['SECRET', 'NAME', 'SCOPE', 'EXPIRES'], ...rows])}`
}

/** `64`, or `1, moving to 64: run …`. */
function shownPartitions({ id, partitions, movingTo }: PartitionedClient): string {
  if (movingTo === undefined) return String(partitions)
  return `${partitions}, moving to ${movingTo}; to complete this, run: sluice client partition ${id} ${movingTo}`
}

/** `moving to 64 partitions`, or an empty text. */
export function shownMove({ movingTo }: PartitionedClient): string {
  return movingTo === undefined ? '' : `moving to ${counted(movingTo, 'partition')}`
}

function shownStorage({ endpoint, bucket, prefix, accessKeyId }: StorageConnection): string {
  return `${bucket}${prefix ? `, folder ${prefix}` : ''} at ${endpoint}, access key ${accessKeyId}`
}

/** `upload only, in team/a`. */
export function shownScope({ only, folder }: ShownSecret): string {
  const what = only === undefined ? 'everything' : only === 'upload' ? 'upload only' : 'read only'
  return folder === undefined ? what : `${what}, in ${folder}`
}

/** A client with its secret, which is printed only once. */
export function shownTokens({
  id,
  name,
  clientToken,
  secretClientToken,
  oldSecretUntil,
}: WithSecret): string {
  const rows = [
    ['client', id],
    ...(name === undefined ? [] : [['name', name]]),
    ['client token (public, in URLs)', clientToken],
    ['secret client token', secretClientToken],
    ...(oldSecretUntil === undefined ? [] : [['old secret valid until', oldSecretUntil]]),
  ]
  return `${columns(rows)}\nStore the secret now: it is not shown again.\n`
}

/** `presets only; widths 320, 640; at most 500 derivatives per file`, or an empty text. */
export function shownRules(rules: ClientRules = {}): string {
  return RULE_NAMES.map((name) => {
    const rule: Rule<unknown, unknown> = CLIENT_RULES[name]
    return rules[name] === undefined ? '' : rule.shown(rules[name])
  })
    .filter(Boolean)
    .join('; ')
}
