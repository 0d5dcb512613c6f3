/** Where a backup is, or the files of a migration go: a folder with an absolute path, or a prefix of a bucket in S3. */
export type BackupPlace = { path: string } | { bucket: string; prefix: string }
