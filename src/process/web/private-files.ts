/**
 * From now on this process and its children create files and folders that only their owner may read. Not set in
 * `scripts/node.sh`, by which `npm start` builds as well: another user may run that build.
 */
export function keepFilesPrivate(): void {
  process.umask(0o077)
}
