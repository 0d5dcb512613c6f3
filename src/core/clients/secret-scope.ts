import { Problem } from '../problem.ts'

/** The kind of request that a secret is used for: add files; read only; or change, delete and restore files. */
export type Action = 'upload' | 'read' | 'manage'

/** The scope of a secret. An absent member does not restrict it. */
export interface SecretScope {
  /** Uploads only, or reading only. */
  only?: Exclude<Action, 'manage'>
  /** This folder only, with its subfolders, as returned by `parseFolder`. */
  folder?: string
}

/** @throws Problem 403 for a secret whose scope does not include the action */
export function checkAction({ only }: SecretScope, action: Action): void {
  if (only === undefined || only === action) return
  throw outOfScope(`This secret is valid only for ${only === 'upload' ? 'uploads' : 'reading'}.`)
}

/** Whether a folder is `around` or a subfolder of it. Empty is the root. */
export function isWithin(folder: string, around: string): boolean {
  return around === '' || folder === around || folder.startsWith(`${around}/`)
}

/** The intersection of two folders, as a folder; undefined when it is empty. */
export function commonFolder(one: string, other: string): string | undefined {
  if (isWithin(one, other)) return one
  return isWithin(other, one) ? other : undefined
}

export function outOfScope(detail: string): Problem {
  return new Problem({ status: 403, code: 'out_of_scope', detail })
}
