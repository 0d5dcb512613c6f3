import { createHash, createHmac } from 'node:crypto'
import { timingSafeEqualText } from '../bytes/timing-safe-equal.ts'
import type { FindUrlKey, UrlKey } from './signed-url.ts'

/** A folder that a signed cookie opens. */
export interface SignedFolder {
  /** The folder, without a slash at its end, never empty. */
  folder: string
  /** Expiry in seconds since 1970, exclusive. */
  until: number
}

/** The maximum lifetime of a signed cookie: one week. A stolen value opens the folder until it expires. */
export const COOKIE_MAX_SECONDS = 604_800

/** The beginning of the names of signed cookies. Each folder has a name of its own, so that a browser can have several. */
export const COOKIE_PREFIX = 'sluice_folder'

// The clock of the app that signs may be ahead of ours.
const SKEW_SECONDS = 3600
// 200 bytes of a folder are 267 characters. Without a folder, a cookie would open all files.
const VALUE = /^(?<version>\d{1,9})\.(?<until>\d{1,10})\.(?<mac>[\w-]{43})\.(?<folder>[\w-]{1,267})$/

/**
 * Checks the value of a cookie that opens a folder and its subfolders: `<version>.<until>.<HMAC-SHA256>.<folder>`, the last two in
 * base64url. Cookie libraries and paths of URLs leave these characters unchanged.
 *
 * @param options.now in milliseconds since 1970
 * @param options.isNeeded whether the folder is of use. Its signature is verified only then
 * @returns undefined for a value of another form, client, key or folder; `expired` for one that was valid
 */
export function readSignedFolder(
  value: string,
  {
    token,
    findKey,
    now,
    isNeeded = () => true,
  }: { token: string; findKey: FindUrlKey; now: number; isNeeded?: (folder: string) => boolean },
): (SignedFolder & { version: number }) | 'expired' | undefined {
  const found = VALUE.exec(value)?.groups
  if (!found?.mac || found.folder === undefined) return undefined
  const folder = Buffer.from(found.folder, 'base64url').toString('utf8')
  // Another spelling of the same folder, or bytes that are no text.
  if (encoded(folder) !== found.folder || !isNeeded(folder)) return undefined
  const [version, until] = [Number(found.version), Number(found.until)]
  const key = findKey(version)
  if (key === undefined || !timingSafeEqualText(signatureOfFolder({ token, folder, until }, key), found.mac))
    return undefined
  const leftSeconds = until - now / 1000
  if (leftSeconds <= 0) return 'expired'
  return leftSeconds > COOKIE_MAX_SECONDS + SKEW_SECONDS ? undefined : { folder, until, version }
}

/** A folder that a client opens, to be signed. */
export interface ClientFolder extends SignedFolder {
  /** The public token of the client. */
  token: string
}

/** The value of a cookie that opens this folder, as `readSignedFolder` reads it. */
export function signFolder(opened: ClientFolder, { version, key }: UrlKey): string {
  return `${version}.${opened.until}.${signatureOfFolder(opened, key)}.${encoded(opened.folder)}`
}

/** The name of this folder's cookie: letters, digits and `_`. */
export function folderCookieName({ token, folder }: Pick<ClientFolder, 'token' | 'folder'>): string {
  const digest = createHash('sha256').update(`${token}/${folder}`).digest('hex')
  return `${COOKIE_PREFIX}_${digest.slice(0, 8)}`
}

function signatureOfFolder({ token, folder, until }: ClientFolder, key: string): string {
  // No path and no signature of a bundle's folder begins with this text: a signature of one is not valid as one of the others.
  return createHmac('sha256', key).update(`cookie ${until} ${token} ${folder}/`).digest('base64url')
}

function encoded(folder: string): string {
  return Buffer.from(folder).toString('base64url')
}
