/** `12 files`. */
const files = (count: number) => (count === 1 ? '1 file' : `${count.toLocaleString('en')} files`)

/** Texts of the shared parts. */
export const COMMON = {
  product: 'Sluice',
  close: 'Close',
  cancel: 'Cancel',
  save: 'Save',
  undo: 'Undo',
  retry: 'Try again',
  copy: 'Copy',
  copied: 'Copied',
  copyFailed: 'The browser did not permit the copy. Select the text and copy it by hand.',
  loading: 'Loading',
  more: 'Load more',
  loadFailed: 'This could not be loaded',
  requestId: 'Request',
  optional: '(optional)',
  showPassword: 'Show password',
  hidePassword: 'Hide password',
  notifications: 'Notifications',
  never: 'Never',
  files,
  /** Of several files, with the reason of the first one. */
  failed: (count: number, reason: string) =>
    count === 1 ? reason : `${files(count)} failed. The first one: ${reason}`,
}
