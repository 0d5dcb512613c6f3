/** Where a backup is, or the files of a migration go: a folder with an absolute path, or a prefix of a bucket in S3. */
export type BackupPlace = { path: string } | { bucket: string; prefix: string }

/** Whether a key is that of an object of a backup. */
export function isOfBackup(key: string): boolean {
  return /^(objects\/[0-9a-f]{2}\/[0-9a-f]{64}|manifests\/[0-9TZ.-]+\.jsonl\.gz)$/.test(key)
}
