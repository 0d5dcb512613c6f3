/** Places for media jobs of one client, jobs that wait and jobs that run. The numbers below `all` hold for callers without a secret. */
export interface JobShares {
  /** Of all callers. */
  all: number
  /** Of all without a secret, by parameters that they have chosen themselves. */
  strangers: number
  /** Of all without a secret, by presets and signed URLs, and those of {@link JobShares.strangers}. */
  strangersByClientChoice: number
  /** Of one address without a secret. */
  perAddress: number
}

/** @param atMost places of a client; each share is at least one place */
export function jobShares(atMost: number): JobShares {
  const share = (part: number) => Math.max(1, Math.floor(atMost * part))
  return {
    all: atMost,
    strangers: share(1 / 2),
    strangersByClientChoice: share(3 / 4),
    perAddress: share(1 / 4),
  }
}
