import type { PathCandidates } from '../files/request-path.ts'
import type { Problem } from '../problem.ts'
import type { Client } from './client.ts'
import { isWithin, outOfScope } from './secret-scope.ts'

/** What a secret lets its bearer do, of what they have asked for. */
export interface Grant {
  client: Client
  /** Only in this folder and those in it; absent: everywhere. */
  folder?: string | undefined
  /** Milliseconds since 1970, when the secret ends; nothing that is signed with it may last longer. */
  until?: number | undefined
}

/**
 * The folder of an upload: as asked for, else that of the secret.
 *
 * @throws Problem 403 outside of it
 */
export function folderWithin(
  asked: string | undefined,
  { folder }: Pick<Grant, 'folder'>,
): string | undefined {
  if (folder === undefined || asked === undefined) return asked ?? folder
  if (isWithin(asked, folder)) return asked
  throw outOfFolder(folder)
}

/** What a path may mean to the bearer of a secret: what is outside of its folder is not there. */
export function candidatesInFolder(
  { full, short }: PathCandidates,
  { folder = '' }: Pick<Grant, 'folder'>,
): PathCandidates {
  return {
    ...(full && isWithin(full.folder, folder) ? { full } : {}),
    ...(short && isWithin(short.folder, folder) ? { short } : {}),
  }
}

/** For what is of all files. @throws Problem 403 for a secret that is for one folder */
export function checkEverywhere({ folder }: Pick<Grant, 'folder'>): void {
  if (folder !== undefined) throw outOfFolder(folder)
}

/** Whether all that a path may mean is in a folder: where it is looked up once more, by whoever knows nothing of that. */
export function isAllWithin(
  { full, short }: PathCandidates,
  { folder = '' }: Pick<Grant, 'folder'>,
): boolean {
  return [full, short].every((one) => !one || isWithin(one.folder, folder))
}

function outOfFolder(folder: string): Problem {
  return outOfScope(`This secret is valid only for the folder ${JSON.stringify(folder)}.`)
}
