/**
 * From now on, this process and its children create files and folders that only their owner may read. This is not set in
 * `scripts/node.sh`, which `npm start` also uses to build: another user may run that build.
 */
export function keepFilesPrivate(): void {
  process.umask(0o077)
}
