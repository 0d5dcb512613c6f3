import { RECORDS, storedKey } from '../files/object-key.ts'

/** Where a backup is, or the files of a migration go: a folder with an absolute path, or a prefix of a bucket in S3. */
export type BackupPlace = { path: string } | { bucket: string; prefix: string }

/** Whether a key is that of an object of a backup. */
export function isOfBackup(key: string): boolean {
  return /^(objects\/[0-9a-f]{2}\/[0-9a-f]{64}|manifests\/[0-9TZ.-]+\.jsonl\.gz)$/.test(key)
}

/** The mark of a bucket that a migration copies to, in the first client's root. A service that uses the bucket deletes it. */
export const migrationKey = storedKey(`${RECORDS}/check/migration.json`)

/** The run that is in progress. */
export const migrationRunKey = storedKey(`${RECORDS}/check/migration-run.json`)

/** The objects that such a bucket is known to have. */
export const migrationStateKey = storedKey(`${RECORDS}/check/migration-state.jsonl.gz`)
