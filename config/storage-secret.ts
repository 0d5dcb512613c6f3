import type { Environment } from './variable.ts'

/** The secret access key for `sluice client storage`. It is a variable of the command, not of the service. */
export function storageSecret(environment: Environment = process.env): string | undefined {
  return environment.STORAGE_SECRET_ACCESS_KEY || undefined
}
