import type { PathCandidates } from '../files/request-path.ts'
import type { Problem } from '../problem.ts'
import type { Client } from './client.ts'
import { isWithin, outOfScope } from './secret-scope.ts'

/** The rights that a secret gives for a request. */
export interface Grant {
  client: Client
  /** Restricts it to this folder and its subfolders; absent: everywhere. */
  folder?: string | undefined
  /** Expiry of the secret, in milliseconds since 1970. Nothing that is signed with it may last longer. */
  until?: number | undefined
  /** The digest of the secret; absent for a member of the console. */
  secretDigest?: string | undefined
}

/**
 * Returns the folder of an upload: the requested one, or by default the folder of the secret.
 *
 * @throws Problem 403 for a folder outside of the secret's folder
 */
export function folderWithin(
  requested: string | undefined,
  { folder }: Pick<Grant, 'folder'>,
): string | undefined {
  if (folder === undefined || requested === undefined) return requested ?? folder
  if (isWithin(requested, folder)) return requested
  throw outOfFolder(folder)
}

/** Restricts the candidates of a path to the folder of a secret. Files outside of it are treated as missing. */
export function candidatesInFolder(
  { full, short }: PathCandidates,
  { folder = '' }: Pick<Grant, 'folder'>,
): PathCandidates {
  return {
    ...(full && isWithin(full.folder, folder) ? { full } : {}),
    ...(short && isWithin(short.folder, folder) ? { short } : {}),
  }
}

/** For operations on all files. @throws Problem 403 for a secret that is restricted to one folder */
export function checkEverywhere({ folder }: Pick<Grant, 'folder'>): void {
  if (folder !== undefined) throw outOfFolder(folder)
}

/** Whether all candidates of a path are in the folder. For callers that resolve the path again without the folder. */
export function isAllWithin(
  { full, short }: PathCandidates,
  { folder = '' }: Pick<Grant, 'folder'>,
): boolean {
  return [full, short].every((one) => !one || isWithin(one.folder, folder))
}

function outOfFolder(folder: string): Problem {
  return outOfScope(`This secret is valid only for the folder ${JSON.stringify(folder)}.`)
}
