/** Texts of the page Trash. */
export const TRASH = {
  title: 'Trash',
  description: 'Deleted files. Until they expire, you can restore them with their URLs.',
  list: 'Deleted files',
  select: (name: string) => `Select ${name}`,
  selectAll: 'Select all',
  columns: {
    selection: 'Selection',
    name: 'Name',
    folder: 'Folder',
    size: 'Size',
    deleted: 'Deleted',
    until: 'Expires',
    actions: 'Actions',
  },
  topLevel: 'Top level',
  restore: 'Restore',
  restoreOf: (name: string) => `Restore ${name}`,
  removeOf: (name: string) => `Delete ${name} permanently`,
  remove: 'Delete permanently',
  removeTitle: (files: string) => `Delete ${files} permanently?`,
  removeText: 'This cannot be undone.',
  removed: (files: string) => `${files} deleted permanently`,
  restored: (files: string) => `${files} restored`,
  more: 'Show more',
  emptyTitle: 'The trash is empty',
  emptyText:
    'Deleted files appear here when the rules of this client retain them. Otherwise, a delete is permanent at once.',
  toRules: 'Rules of this client',
  files: (count: number, formatted: string) => (count === 1 ? '1 file' : `${formatted} files`),
  failed: (count: number, reason: string) =>
    count === 1 ? reason : `${count} files failed. The first one: ${reason}`,
}
