import { COOKIE_MAX_SECONDS, FOLDER_MAX_BYTES } from '../generated/limits.ts'

/** What a signed cookie opens, and for how long. */
export interface FolderCookieOptions {
  /** The public token of the client: `pub_…`. */
  token: string
  /** The URL key of the client, as `sluice client key add` prints it. Never send it to a page. */
  key: { version: number; key: string }
  /** The folder: 1 to 200 bytes, without a slash at its ends. It opens its subfolders too. */
  folder: string
  /** The lifetime in seconds: 1 to 604800, one week. */
  expiresIn: number
  /** Milliseconds since 1970. Default: `Date.now`. */
  now?: () => number
}

/** A signed cookie. */
export interface FolderCookie {
  /** `sluice_folder_` and 8 letters or digits, which differ from folder to folder: a browser can have the cookies of several. */
  name: string
  value: string
  /** The lifetime in seconds, for `Max-Age`. */
  maxAge: number
  /** The path of a link that sets the cookie, from `/v1/`, for apps that share no domain with the service. */
  link: string
}

/**
 * Signs a cookie that opens all files in a folder. On a server, without a request.
 *
 * @throws TypeError unless the folder has 1 to 200 bytes and no slash at its ends; RangeError unless `expiresIn` is an integer from 1 to 604800
 */
export async function signFolderCookie({
  token,
  key: { version, key },
  folder,
  expiresIn,
  now = Date.now,
}: FolderCookieOptions): Promise<FolderCookie> {
  const isFolder = folder !== '' && !/^\/|\/$/.test(folder) && bytesOf(folder).length <= FOLDER_MAX_BYTES
  if (!isFolder)
    throw new TypeError(
      `expected a folder of 1 to ${FOLDER_MAX_BYTES} bytes without a slash at its ends but received ${JSON.stringify(folder)}`,
    )
  if (!(Number.isInteger(expiresIn) && expiresIn >= 1 && expiresIn <= COOKIE_MAX_SECONDS))
    throw new RangeError(
      `expected an integer from 1 to ${COOKIE_MAX_SECONDS} for expiresIn but received ${expiresIn}`,
    )
  const until = Math.floor(now() / 1000) + expiresIn
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const secret = await crypto.subtle.importKey('raw', bytesOf(key), algorithm, false, ['sign'])
  const mac = await crypto.subtle.sign('HMAC', secret, bytesOf(`cookie ${until} ${token} ${folder}/`))
  const value = `${version}.${until}.${base64url(new Uint8Array(mac))}.${base64url(bytesOf(folder))}`
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytesOf(`${token}/${folder}`)))
  const id = [...digest.slice(0, 4)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return { name: `sluice_folder_${id}`, value, maxAge: expiresIn, link: `/v1/cookie/${token}/${value}` }
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
