import type { Environment } from './variable.ts'

/** How to reach the bucket of a backup. The values that are not set are those of the service. */
export interface BackupConnection {
  endpoint?: string
  region?: string
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }
}

/** The connection of `sluice backup`, `restore` and `migrate`. Its variables are those of the commands, not of the service. */
export function backupConnection(environment: Environment = process.env): BackupConnection {
  const { BACKUP_S3_ENDPOINT, BACKUP_S3_REGION } = environment
  const { BACKUP_ACCESS_KEY_ID, BACKUP_SECRET_ACCESS_KEY, BACKUP_SESSION_TOKEN } = environment
  if (Boolean(BACKUP_ACCESS_KEY_ID) !== Boolean(BACKUP_SECRET_ACCESS_KEY))
    throw new Error(
      `${BACKUP_ACCESS_KEY_ID ? 'BACKUP_SECRET_ACCESS_KEY' : 'BACKUP_ACCESS_KEY_ID'} is not set: the two are a pair`,
    )
  return {
    ...(BACKUP_S3_ENDPOINT ? { endpoint: BACKUP_S3_ENDPOINT } : {}),
    ...(BACKUP_S3_REGION ? { region: BACKUP_S3_REGION } : {}),
    ...(BACKUP_ACCESS_KEY_ID && BACKUP_SECRET_ACCESS_KEY
      ? {
          credentials: {
            accessKeyId: BACKUP_ACCESS_KEY_ID,
            secretAccessKey: BACKUP_SECRET_ACCESS_KEY,
            ...(BACKUP_SESSION_TOKEN ? { sessionToken: BACKUP_SESSION_TOKEN } : {}),
          },
        }
      : {}),
  }
}
