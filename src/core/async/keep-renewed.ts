/**
 * Renews a lease three times within its length, so that two lost renewals do no harm. A renewal that fails is not repeated before the next one.
 *
 * @returns ends the renewals
 */
export function keepRenewed(leaseMs: number, renew: () => Promise<unknown>): () => void {
  const renewal = setInterval(() => void renew().catch(() => {}), leaseMs / 3)
  return () => clearInterval(renewal)
}
