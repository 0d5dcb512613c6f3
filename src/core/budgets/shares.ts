/** Places to wait. The numbers below `atMost` hold for callers without a secret. */
export interface WaitingLimits {
  /** Of all callers. */
  atMost: number
  /** Of all without a secret: the other places are for those with one. */
  strangers: number
  /** Of one client, and from one address. */
  perClient: number
  perAddress: number
}

/** One client may take half of the places, and callers without a secret leave a quarter to those with one. */
export function waitingShares({ atMost, perAddress }: Pick<WaitingLimits, 'atMost' | 'perAddress'>) {
  return { atMost, perAddress, strangers: Math.ceil(atMost * 0.75), perClient: Math.ceil(atMost * 0.5) }
}

/** How many of the slots in which work runs callers may have at once. */
export interface SlotShares {
  /** Heavy work of all callers. */
  heavy: number
  /** Of all without a secret. */
  strangers: number
  /** Of one address without a secret: all its work, and its heavy work. */
  perAddress: number
  heavyPerAddress: number
}

// With fewer, a slot that waits for trusted callers would leave a core without work.
const RESERVED_FROM = 4

/**
 * One address without a secret never has the last free slot, of all and of those for heavy work, where there are two or more:
 * a newcomer then starts at once, although everything that runs takes long. From four slots on, one is for trusted callers.
 */
export function slotShares(atOnce: number): SlotShares {
  const heavy = allButOne(atOnce)
  return {
    heavy,
    strangers: atOnce >= RESERVED_FROM ? atOnce - 1 : atOnce,
    perAddress: allButOne(atOnce),
    heavyPerAddress: allButOne(heavy),
  }
}

function allButOne(slots: number): number {
  return Math.max(1, slots - 1)
}
