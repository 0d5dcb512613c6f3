/**
 * Places for media jobs of one client, waiting and running. The numbers below `all` apply to callers without a
 * secret.
 */
export interface JobShares {
  /** For all callers together. */
  all: number
  /** For all callers without a secret, by parameters that they chose themselves. */
  anonymous: number
  /** For all callers without a secret, by presets and signed URLs; includes {@link JobShares.anonymous}. */
  anonymousByClientChoice: number
  /** For one IP address without a secret. */
  perAddress: number
}

/** @param atMost places of a client; each share is at least one place */
export function jobShares(atMost: number): JobShares {
  const share = (part: number) => Math.max(1, Math.floor(atMost * part))
  return {
    all: atMost,
    anonymous: share(1 / 2),
    anonymousByClientChoice: share(3 / 4),
    perAddress: share(1 / 4),
  }
}
