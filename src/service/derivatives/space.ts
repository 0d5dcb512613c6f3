import {
  bytesOfDerivatives,
  type DerivativeLimits,
  derivativeShares,
  mayEvict,
} from '../../core/budgets/storage.ts'
import type { Client } from '../../core/clients/client.ts'
import { derivativeKey, type ObjectKey } from '../../core/files/object-key.ts'
import { isFurtherCopyKey, RESERVED_VARIANTS } from '../../core/files/variant.ts'
import type { Log } from '../../core/log.ts'
import { MAX_FURTHER_COPIES } from '../../core/media/smaller-copies.ts'
import type { UsedDerivative } from '../../core/ports/derivative-uses.ts'
import type { DerivativeIndex, OriginalRecord } from '../../core/ports/file-index.ts'
import { fileNotFound } from '../../core/problem.ts'
import type { Evict } from './evict.ts'

/** A derivative that needs storage. */
export interface Claim {
  client: Client
  original: Pick<OriginalRecord, 'key' | 'size'>
  key: ObjectKey
  /** Whether it may also replace other held derivatives. */
  isHeld: boolean
}

/** Makes room for new derivatives by evicting the least recently used ones. */
export interface DerivativeSpace {
  /**
   * Notes the derivative as pending. `limited`: whether it counts against `VARIANT_LIMIT`. Copies of which an original may
   * have many have a limit of their own.
   * @returns whether it may be stored: false when a limit is reached and no derivative can be evicted
   * @throws Problem 404 when the original is being deleted
   */
  begin(claim: Claim, options: { deadline: number; limited: boolean }): Promise<boolean>
  /** Makes room for its bytes. @returns false when a limit is reached and no derivative can be evicted */
  makeRoom(claim: Claim, bytes: number): Promise<boolean>
  /** The maximum of derivatives per original of this client. */
  atMost(client: Client): number
}

// Other processes may use the room that was made. After this many attempts, the derivative is not stored.
const ROUNDS = 20
const AT_ONCE = 50
// A sum that may be old decides only while a tenth of the limit remains free: more than is stored in its second.
const ENOUGH_FREE = 0.1

export function createDerivativeSpace({
  index,
  evict,
  limits,
  log,
}: {
  index: DerivativeIndex
  evict: Evict
  limits: DerivativeLimits
  log: Log
}): DerivativeSpace {
  const sharesOf = ({ rules }: Client) => derivativeShares(limits, rules)
  const atMost = (client: Client) => sharesOf(client).variants
  const refOf = ({ client, original }: Claim) => ({ clientId: client.id, key: original.key })

  /** The derivatives that this claim may evict. */
  const evictable = async (claim: Claim, of: Parameters<DerivativeIndex['leastUsed']>[0], count: number) => {
    const used = await index.leastUsed(of, count)
    return used.filter(({ key, use }) => key !== claim.key && mayEvict(claim, use))
  }

  /** The derivatives that do not count against the limit of this claim. */
  async function uncountedFor(claim: Claim, { isFurther }: { isFurther: boolean }): Promise<ObjectKey[]> {
    const { key: original } = claim.original
    const known = (await index.look(refOf(claim)))?.derivatives ?? []
    const others = known.flatMap(({ key }) => (isFurtherCopyKey(original, key) === isFurther ? [] : [key]))
    return isFurther ? others : [...reservedOf(original), ...others]
  }

  /** @returns the bytes that this call has freed. Undefined after a failure */
  async function tryToEvict(
    { client }: Claim,
    { original, key, bytes }: UsedDerivative,
  ): Promise<number | undefined> {
    try {
      return (await evict(client, original, key)) ? bytes : 0
    } catch (err) {
      log.warn({ err, client: client.id, key }, 'an eviction failed; the next sweep continues it')
      return undefined
    }
  }

  /** Evicts derivatives until `bytes` more fit into one limit. */
  async function evictFor(claim: Claim, bytes: number, scope: 'client' | 'original', most: number) {
    if (bytes > most) return false
    const of = scope === 'client' ? { clientId: claim.client.id } : refOf(claim)
    const overBy = async (options: { mayBeOld: boolean }) =>
      (await index.derivedBytes(refOf(claim), options))[scope] + bytes - most
    // Every new derivative asks, but only one that hardly fits needs the exact sum, which is in all partitions.
    if ((await overBy({ mayBeOld: true })) <= -ENOUGH_FREE * most) return true
    for (let round = 0; round < ROUNDS; round += 1) {
      let over = await overBy({ mayBeOld: false })
      if (over <= 0) return true
      const victims = await evictable(claim, of, AT_ONCE)
      if (victims.length === 0) return false
      for (const victim of victims) {
        if (over <= 0) break
        over -= (await tryToEvict(claim, victim)) ?? 0
      }
    }
    return false
  }

  return {
    atMost,

    async begin(claim, { deadline, limited }) {
      const { client, original, key } = claim
      const isFurther = isFurtherCopyKey(original.key, key)
      const most = isFurther ? MAX_FURTHER_COPIES : limited ? atMost(client) : undefined
      // Most originals have none of the further copies: the others are looked at when the limit seems to be reached.
      let uncounted = isFurther ? await uncountedFor(claim, { isFurther }) : reservedOf(original.key)
      for (let round = 0; round < ROUNDS; round += 1) {
        const options = most === undefined ? undefined : { atMost: most, uncounted }
        const start = await index.beginDerivative(refOf(claim), key, deadline, options)
        if (start === 'refused') throw fileNotFound()
        if (start === 'begun') return true
        if (isFurther || round > 0) {
          const others = new Set(uncounted)
          const used = await evictable(claim, refOf(claim), others.size + 2)
          const victim = used.find((one) => !others.has(one.key))
          if (!victim || (await tryToEvict(claim, victim)) === undefined) break
        }
        uncounted = await uncountedFor(claim, { isFurther })
      }
      if (!claim.isHeld) return false
      if ((await index.beginDerivative(refOf(claim), claim.key, deadline)) === 'begun') return true
      throw fileNotFound()
    },

    async makeRoom(claim, bytes) {
      const { client, original, isHeld } = claim
      const { bytes: ofClient } = sharesOf(client)
      const ofOriginal = bytesOfDerivatives(original.size, limits.derivativesMaxTimes)
      const fits =
        (await evictFor(claim, bytes, 'original', ofOriginal)) &&
        (ofClient === undefined || (await evictFor(claim, bytes, 'client', ofClient)))
      return fits || isHeld
    },
  }
}

function reservedOf(original: ObjectKey): ObjectKey[] {
  return RESERVED_VARIANTS.map((variant) => derivativeKey(original, variant))
}
