import { sha256 } from '../bytes/digest.ts'
import { foldedPath } from '../clients/signed-delivery.ts'
import { encodedPath, type ObjectKey, parseKey } from '../files/object-key.ts'

// Cloudflare accepts 1024 characters per tag. Proxies often have 4 kB for all headers, and a file may be in eight folders.
const FOLDER_MAX_LENGTH = 80

/**
 * The tag of all files of a client: a digest of its id, which remains when its tokens change. Tags of all kinds consist of letters,
 * digits and `-._~/%`, since CDNs separate tags by spaces or commas, and differ in more than case, which Cloudflare ignores.
 */
export function clientTag(clientId: string): string {
  return `c-${clientDigest(clientId)}`
}

/**
 * The tag of all files in a folder and its subfolders. The path is a digest if it is long.
 *
 * @param folder not empty
 */
export function folderTag(clientId: string, folder: string): string {
  return tagOfFolder(clientDigest(clientId), folder)
}

function tagOfFolder(digest: string, folder: string): string {
  // Rules of folders ignore case, so their tags have no case either.
  const folded = foldedPath(folder)
  const path = encodedPath(folded).replaceAll(/[^\w\-.~/%]/g, (character) => encodeHex(character))
  const short = path.length > FOLDER_MAX_LENGTH ? `~${sha256(folded).slice(0, 16)}` : path
  return `d-${digest}-${short}`
}

/** The tag of an original and of everything that is derived from it. */
export function fileTag(original: { sourceName: string }): string {
  return `f-${original.sourceName.replace(/\..*$/, '')}`
}

/** The tags of a response by the name of an alias: its own, and those of all folders of the name, which may become private. */
export function tagsOfAlias(clientId: string, name: string): string[] {
  return [aliasTag(clientId, name), ...tagsOfFolders(clientDigest(clientId), name.split('/').slice(0, -1))]
}

/** The tag of all responses by the name of an alias. A digest: names may differ only in case, which Cloudflare ignores. */
export function aliasTag(clientId: string, name: string): string {
  return `a-${sha256(`cache tag of the alias ${name} of ${clientId}`).slice(0, 20)}`
}

/**
 * The tags of a delivery: those of the original, of all folders above it, and of the client.
 *
 * @param key of the original, or of a file of a derivative
 */
export function tagsOf(clientId: string, key: ObjectKey | string): string[] {
  const name = parseKey(key)
  const digest = clientDigest(clientId)
  if (!name) return [`c-${digest}`]
  const segments = name.folder === '' ? [] : name.folder.split('/')
  return [fileTag(name), ...tagsOfFolders(digest, segments), `c-${digest}`]
}

/** The tags of a folder, by the segments of its path, and of all folders above it. */
function tagsOfFolders(digest: string, segments: readonly string[]): string[] {
  return segments.map((_, i) => tagOfFolder(digest, segments.slice(0, i + 1).join('/')))
}

function clientDigest(clientId: string): string {
  return sha256(`cache tag of ${clientId}`).slice(0, 12)
}

function encodeHex(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}
