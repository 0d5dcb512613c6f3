import type { OriginalName } from './object-key.ts'

/**
 * Whether an original is in a folder, or below it. Not told by the beginning of its key: that of one without a folder begins
 * with its group, which may be the name of a folder as well.
 */
export function isWithin({ folder }: Pick<OriginalName, 'folder'>, of: string): boolean {
  return folder === of || folder.startsWith(`${of}/`)
}

/** What is in both of two folders, as a folder; undefined when there is nothing. Empty: everything. */
export function common(one: string, other: string): string | undefined {
  if (other === '' || isWithin({ folder: one }, other)) return one
  if (one === '' || isWithin({ folder: other }, one)) return other
  return undefined
}
