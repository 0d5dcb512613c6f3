/**
 * Renews a lease after each third of its length, so that a lost renewal does no harm. A failed one is not repeated before the next.
 *
 * @returns a function that ends the renewals
 */
export function keepRenewed(leaseMs: number, renew: () => Promise<unknown>): () => void {
  const renewal = setInterval(() => void renew().catch(() => {}), leaseMs / 3)
  return () => clearInterval(renewal)
}
