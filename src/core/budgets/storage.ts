import type { ClientRules } from '../clients/rules/table.ts'
import type { Use } from '../ports/derivative-uses.ts'

/** Limits on the number and size of derivatives. A client's rules may replace them. */
export interface DerivativeLimits {
  /** Derivatives per original. */
  variantLimit: number
  /** Bytes of all derivatives of one client; 0: unlimited. */
  derivativesMaxBytes: number
  /** Bytes of an original's derivatives, as a multiple of its own size. */
  derivativesMaxTimes: number
}

/** The limits that apply to one client. */
export interface DerivativeShares {
  /** Derivatives per original. */
  variants: number
  /** Bytes of all derivatives; undefined without a limit. */
  bytes: number | undefined
}

// A small image may have a few large derivatives in any case.
const ORIGINAL_MIN_BYTES = 256_000_000

/** @param rules the client's own, which replace the configured limits */
export function derivativeShares(limits: DerivativeLimits, rules: ClientRules | undefined): DerivativeShares {
  const bytes = rules?.derivativesMaxBytes ?? limits.derivativesMaxBytes
  return {
    variants: rules?.variantLimit ?? limits.variantLimit,
    bytes: bytes === 0 ? undefined : bytes,
  }
}

/** Limit in bytes of all derivatives of an original of this size; no single one may be larger. */
export function bytesOfDerivatives(size: number, times: number): number {
  return Math.max(ORIGINAL_MIN_BYTES, times * size)
}

/**
 * Whether a new derivative may evict a stored one. Derivatives that a preset, an eager transform or a trusted caller
 * requested are held: requests of untrusted callers never evict them.
 */
export function mayEvict(newcomer: { isHeld: boolean }, stored: Pick<Use, 'isHeld'>): boolean {
  return newcomer.isHeld || !stored.isHeld
}
