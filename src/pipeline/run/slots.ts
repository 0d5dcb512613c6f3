import { slotShares } from '../../core/budgets/shares.ts'
import type { Waiter } from './waiting-list.ts'

/** Work that may run, with its costs. */
export type Candidate = Pick<Waiter, 'caller' | 'bytes' | 'isHeavy'>

/** Limits of work that runs at the same time. */
export interface SlotLimits {
  atOnce: number
  /** Bytes that all running heavy work may use together. Work that needs more runs when no other heavy work does. */
  heavyBytes: number
}

/** The slots in which work runs. */
export interface Slots {
  readonly running: number
  readonly heavyRunning: number
  /** Whether a slot is free, and this caller may have one more. */
  isFreeFor(candidate: Candidate): boolean
  /** Whether there is a slot for heavy work, and enough memory for this one. True for light work. */
  fits(candidate: Candidate): boolean
  take(candidate: Candidate): void
  release(candidate: Candidate): void
}

/** Creates slots with the shares of {@link slotShares}. */
export function createSlots({ atOnce, heavyBytes }: SlotLimits): Slots {
  const shares = slotShares(atOnce)
  const running = new Set<Candidate>()
  let bytesOfHeavy = 0
  const count = (matches: (candidate: Candidate) => boolean) => [...running].filter(matches).length
  const heavy = () => count(({ isHeavy }) => isHeavy)

  return {
    get running() {
      return running.size
    },
    get heavyRunning() {
      return heavy()
    },
    isFreeFor({ caller, isHeavy }) {
      if (running.size >= atOnce) return false
      if (caller.isTrusted) return true
      const anonymous = [...running].filter((each) => !each.caller.isTrusted)
      const ofAddress = anonymous.filter((each) => each.caller.address === caller.address)
      if (anonymous.length >= shares.anonymous || ofAddress.length >= shares.perAddress) return false
      return !isHeavy || ofAddress.filter((each) => each.isHeavy).length < shares.heavyPerAddress
    },
    fits({ isHeavy, bytes }) {
      if (!isHeavy || heavy() === 0) return true
      return heavy() < shares.heavy && bytesOfHeavy + bytes <= heavyBytes
    },
    take(candidate) {
      running.add(candidate)
      if (candidate.isHeavy) bytesOfHeavy += candidate.bytes
    },
    release(candidate) {
      running.delete(candidate)
      if (candidate.isHeavy) bytesOfHeavy -= candidate.bytes
    },
  }
}
