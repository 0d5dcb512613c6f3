import type { Environment } from './variable.ts'

/** The access keys of the bucket that `sluice import` reads. They are variables of the command, not of the service. */
export function importCredentials(environment: Environment = process.env) {
  const { IMPORT_ACCESS_KEY_ID, IMPORT_SECRET_ACCESS_KEY, IMPORT_SESSION_TOKEN } = environment
  if (!IMPORT_ACCESS_KEY_ID || !IMPORT_SECRET_ACCESS_KEY) return undefined
  return {
    accessKeyId: IMPORT_ACCESS_KEY_ID,
    secretAccessKey: IMPORT_SECRET_ACCESS_KEY,
    ...(IMPORT_SESSION_TOKEN ? { sessionToken: IMPORT_SESSION_TOKEN } : {}),
  }
}
