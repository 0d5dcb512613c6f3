import { PRIVATE_MARK } from '../files/variant.ts'
import type { Client } from './client.ts'
import type { ClientRules } from './rules/table.ts'

/** Whether some or all files of a client with these rules are delivered only by signed URLs. */
export function usesSignedUrls({ signedUrls, privateFolders }: ClientRules = {}): boolean {
  return signedUrls === true || privateFolders !== undefined
}

/**
 * Whether a file is delivered only by signed URLs.
 *
 * @param path the key of an object, or the path of a delivery URL, decoded once: the folder of a file begins both
 */
export function needsSignedUrl({ rules = {} }: Pick<Client, 'rules'>, path: string): boolean {
  if (rules.signedUrls === true) return true
  if (rules.privateFolders === undefined) return false
  return isInPrivateFolder(rules, path) || showsPrivateFile(path)
}

/** Whether a path is that of a derivative that shows a file of a private folder, such as a watermark. */
export function showsPrivateFile(path: string): boolean {
  return SHOWS_PRIVATE_FILE.test(path)
}

/**
 * Whether a path begins with a private folder. Case, and the composition of accents, do not matter: file systems that ignore
 * them open a private file by another name, and people take such folders for the same one.
 */
export function isInPrivateFolder({ privateFolders = [] }: ClientRules, path: string): boolean {
  if (privateFolders.length === 0) return false
  const compared = foldedPath(path)
  return privateFolders.some((folder) => compared.startsWith(`${foldedPath(folder)}/`))
}

/** The same text for paths that are the same one to some file system. */
// Upper case first: "ſ" is a letter of its own in lower case, but a file system may take it for "s".
export function foldedPath(path: string): string {
  return path.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC')
}

/** The folders whose files public URLs delivered before a change of a client, and no longer deliver; an empty text for all files. */
export function withdrawnFolders(before: Client, after: Client): string[] {
  const wasPublic = !before.removing && before.rules?.signedUrls !== true
  if (!wasPublic) return []
  if (after.removing || after.token !== before.token || after.rules?.signedUrls === true) return ['']
  const { privateFolders = [] } = after.rules ?? {}
  return privateFolders.filter((folder) => !isInPrivateFolder(before.rules ?? {}, `${folder}/`))
}

// A derivative of any file with this mark, or a file of such a bundle.
const SHOWS_PRIVATE_FILE = new RegExp(`_[^/]*${PRIVATE_MARK}(?:/[^/]*)?$`)
