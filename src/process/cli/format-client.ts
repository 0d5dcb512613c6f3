import type { ClientRules } from '../../core/clients/client.ts'
import type { ClientStorage } from '../../core/clients/client-storage.ts'
import type { SecretScope } from '../../core/clients/secret-scope.ts'
import { shownDuration } from './duration.ts'
import { columns } from './output.ts'
import { counted } from './plural.ts'

/** Shown when a client has no rules of its own. */
export const NO_RULES = 'none (the defaults apply)'

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
    ...(urlKeys.length > 0 ? [['active keys', urlKeys.join(', ')]] : []),
  ])
  if (secrets.length === 0) return facts
  const rows = secrets.map((one) => [one.id, one.name ?? '', shownScope(one), one.until ?? 'never'])
  return `${facts}\n${columns([['SECRET', 'NAME', 'SCOPE', 'EXPIRES'], ...rows])}`
}

function shownStorage({ endpoint, bucket, prefix, accessKeyId }: ShownStorage): string {
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
    variantLimit === undefined ? '' : `at most ${counted(variantLimit, 'derivative')} per file`,
    derivativesMaxBytes === undefined ? '' : `derivatives of at most ${counted(derivativesMaxBytes, 'byte')}`,
    fetchHosts === undefined ? '' : `fetches from ${shownHosts(fetchHosts)}`,
    fetchDenyHosts ? `never fetches from ${shownHosts(fetchDenyHosts)}` : '',
    keepDeletedSeconds === undefined ? '' : `soft delete for ${shownDuration(keepDeletedSeconds * 1000)}`,
    dedupe === 'reuse' ? 'identical files are reused' : '',
    uploadMaxBytes === undefined ? '' : `uploads of at most ${counted(uploadMaxBytes, 'byte')}`,
    ...Object.entries(rates).map(([name, points]) => `${name} rate limit ${points === 0 ? 'off' : points}`),
    own.length > 0 ? `presets ${own.join(', ')}` : '',
  ]
    .filter(Boolean)
    .join('; ')
}

function shownHosts(hosts: readonly string[] | 'any'): string {
  if (hosts === 'any') return 'any host'
  return hosts.length === 0 ? 'no host' : hosts.join(', ')
}
