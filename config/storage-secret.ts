import type { Environment } from './load.ts'

/**
 * The secret access key that `sluice client storage` stores. It is not a variable of the service, which has its own.
 */
export function storageSecret(environment: Environment = process.env): string | undefined {
  return environment.STORAGE_SECRET_ACCESS_KEY || undefined
}
