/**
 * From now on this process and its children make files and folders that only their owner may read. Not in `scripts/node.sh`: `npm start`
 * builds there, and what it builds may be run by another user.
 */
export function keepFilesPrivate(): void {
  process.umask(0o077)
}
