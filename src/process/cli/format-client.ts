import type { ClientRules } from '../../core/clients/client.ts'
import type { ClientStorage } from '../../core/clients/client-storage.ts'
import type { SecretScope } from '../../core/clients/secret-scope.ts'
import { shownDuration } from './duration.ts'
import { columns } from './output.ts'
import { counted } from './plural.ts'

/** For who has none. */
export const NO_RULES = 'none: as for everyone'

/** A client as commands describe it. */
export interface ShownClient {
  id: string
  name?: string
  clientToken: string
  createdAt: string
  state: 'active' | 'removing'
  oldSecretUntil?: string
  secrets?: ShownSecret[]
  storage?: ShownStorage
  urlKeys?: readonly number[]
  rules?: ClientRules
}

export interface ShownSecret extends SecretScope {
  id: string
  name?: string
  until?: string
}

type ShownStorage = Pick<ClientStorage, 'endpoint' | 'bucket' | 'prefix' | 'accessKeyId'>

export type WithSecret = ShownClient & { secretClientToken: string }

/** `active, old secret until 2026-11-30T10:00:00.000Z, 2 secrets with a scope`. */
export function shownState({ state, oldSecretUntil, secrets = [] }: ShownClient): string {
  return [
    state,
    oldSecretUntil ? `old secret until ${oldSecretUntil}` : '',
    secrets.length > 0 ? `${counted(secrets.length, 'secret')} with a scope` : '',
  ]
    .filter(Boolean)
    .join(', ')
}

/** A client, and those of its secrets that have a scope. */
export function shownClient({ secrets = [], ...client }: ShownClient): string {
  const { id, name, clientToken, createdAt, rules, storage, urlKeys = [] } = client
  const facts = columns([
    ['client', id],
    ...(name === undefined ? [] : [['name', name]]),
    ['client token (public, in URLs)', clientToken],
    ['created', createdAt],
    ['state', shownState(client)],
    ['rules', shownRules(rules) || NO_RULES],
    ...(storage ? [['bucket', shownStorage(storage)]] : []),
    ...(urlKeys.length > 0 ? [['keys that count', urlKeys.join(', ')]] : []),
  ])
  if (secrets.length === 0) return facts
  const rows = secrets.map((one) => [one.id, one.name ?? '', shownScope(one), one.until ?? 'for good'])
  return `${facts}\n${columns([['SECRET', 'NAME', 'FOR', 'UNTIL'], ...rows])}`
}

function shownStorage({ endpoint, bucket, prefix, accessKeyId }: ShownStorage): string {
  return `${bucket}${prefix ? `, folder ${prefix}` : ''} at ${endpoint}, with the key ${accessKeyId}`
}

/** `uploads only, in team/a`. */
export function shownScope({ only, folder }: ShownSecret): string {
  const what = only === undefined ? 'everything' : only === 'upload' ? 'uploads only' : 'reading only'
  return folder === undefined ? what : `${what}, in ${folder}`
}

/** A client with its own secret, which is told once. */
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
    ...(oldSecretUntil === undefined ? [] : [['old secret works until', oldSecretUntil]]),
  ]
  return `${columns(rows)}\nKeep the secret now: it is not shown again.\n`
}

/** `presets only; widths 320, 640; 500 variants a file`, or nothing. */
export function shownRules({
  signedUrls,
  presetsOnly,
  allowedWidths,
  variantLimit,
  derivativesMaxBytes,
  fetchHosts,
  fetchDenyHosts,
  keepDeletedSeconds,
  dedupe,
  uploadMaxBytes,
  rates = {},
  presets = {},
}: ClientRules = {}): string {
  const own = Object.keys(presets)
  return [
    signedUrls ? 'signed URLs only' : '',
    presetsOnly ? 'presets only' : '',
    allowedWidths ? `widths ${allowedWidths.join(', ')}` : '',
    variantLimit === undefined ? '' : `${counted(variantLimit, 'variant')} a file`,
    derivativesMaxBytes === undefined ? '' : `derivatives of ${counted(derivativesMaxBytes, 'byte')}`,
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
