import type { ClientRules } from '../clients/client.ts'
import type { Use } from '../ports/derivative-uses.ts'

/** How many derivatives there may be, and how large. A client's rules may say otherwise. */
export interface DerivativeLimits {
  /** Of one original. */
  variantLimit: number
  /** Bytes of all derivatives of one client; 0: unlimited. */
  derivativesMaxBytes: number
  /** Bytes of an original's derivatives, as a multiple of its own. */
  derivativesMaxTimes: number
}

/** What the derivatives of one client may take. */
export interface DerivativeShares {
  /** Derivatives of one original. */
  variants: number
  /** Bytes of all; undefined without a limit. */
  bytes: number | undefined
}

// A small picture may have a few large ones made of it in any case.
const ORIGINAL_MIN_BYTES = 256_000_000

/** @param rules the client's own, over the configured limits */
export function derivativeShares(limits: DerivativeLimits, rules: ClientRules | undefined): DerivativeShares {
  const bytes = rules?.derivativesMaxBytes ?? limits.derivativesMaxBytes
  return {
    variants: rules?.variantLimit ?? limits.variantLimit,
    bytes: bytes === 0 ? undefined : bytes,
  }
}

/** Bytes of the derivatives that an original of this size may have; no single one may be larger. */
export function bytesOfDerivatives(size: number, times: number): number {
  return Math.max(ORIGINAL_MIN_BYTES, times * size)
}

/**
 * Whether a new derivative may take the place of a stored one. What was requested by a preset, in advance or by a trusted caller is
 * held: strangers evict none of it.
 */
export function mayEvict(newcomer: { isHeld: boolean }, stored: Pick<Use, 'isHeld'>): boolean {
  return newcomer.isHeld || !stored.isHeld
}
