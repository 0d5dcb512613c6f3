import { Problem } from '../problem.ts'

/** What a request with a secret does: adds files; only looks; or changes, deletes and restores what is there. */
export type Action = 'upload' | 'read' | 'manage'

/** What a secret is for; without a member, for everything. */
export interface SecretScope {
  /** Uploads only, or reading only. */
  only?: Exclude<Action, 'manage'>
  /** Nothing outside of this folder, as of `parseFolder`. */
  folder?: string
}

/** @throws Problem 403 for a secret that is not for this */
export function checkAction({ only }: SecretScope, action: Action): void {
  if (only === undefined || only === action) return
  throw outOfScope(`This secret is valid only for ${only === 'upload' ? 'uploads' : 'reading'}.`)
}

/** Whether a folder is this one or in it; empty is the root, which everything is in. */
export function isWithin(folder: string, around: string): boolean {
  return around === '' || folder === around || folder.startsWith(`${around}/`)
}

/** What is in both of two folders, as a folder; undefined when there is nothing. */
export function commonFolder(one: string, other: string): string | undefined {
  if (isWithin(one, other)) return one
  return isWithin(other, one) ? other : undefined
}

export function outOfScope(detail: string): Problem {
  return new Problem({ status: 403, code: 'out_of_scope', detail })
}
