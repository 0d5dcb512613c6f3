/** Limits of waiting work, in places. The numbers below `atMost` apply to callers without a secret. */
export interface WaitingLimits {
  /** For all callers together. */
  atMost: number
  /** For all callers without a secret. The other places are for callers with one. */
  anonymous: number
  /** For one client, and for one IP address. */
  perClient: number
  perAddress: number
}

/** One client may take half of the places. Callers without a secret leave a quarter to callers with one. */
export function waitingShares({ atMost, perAddress }: Pick<WaitingLimits, 'atMost' | 'perAddress'>) {
  return { atMost, perAddress, anonymous: Math.ceil(atMost * 0.75), perClient: Math.ceil(atMost * 0.5) }
}

/** Limits of running work, in slots. */
export interface SlotShares {
  /** For heavy work of all callers. */
  heavy: number
  /** For all callers without a secret. */
  anonymous: number
  /** For one IP address without a secret: all its work, and its heavy work. */
  perAddress: number
  heavyPerAddress: number
}

// With fewer slots, a slot that waits for trusted callers would leave a core idle.
const RESERVED_FROM = 4

/**
 * From four slots on, one is reserved for trusted callers. Of the others, one IP address without a secret never gets the last
 * free one, neither of all nor of those for heavy work, where there are two or more. A new caller then starts at once, even
 * when all running work takes long.
 */
export function slotShares(atOnce: number): SlotShares {
  const anonymous = atOnce >= RESERVED_FROM ? atOnce - 1 : atOnce
  const heavy = allButOne(anonymous)
  return {
    heavy,
    anonymous,
    perAddress: allButOne(anonymous),
    heavyPerAddress: allButOne(heavy),
  }
}

function allButOne(slots: number): number {
  return Math.max(1, slots - 1)
}
