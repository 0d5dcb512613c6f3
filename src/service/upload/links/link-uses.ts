import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { keepRenewed } from '../../../core/async/keep-renewed.ts'
import type { Client } from '../../../core/clients/client.ts'
import { type ObjectKey, storedKey } from '../../../core/files/object-key.ts'
import type { FileLookup } from '../../../core/ports/file-index.ts'
import { changeInLedger, type Ledger } from '../../../core/ports/ledger.ts'
import { Problem, retryAfter } from '../../../core/problem.ts'
import { linkEnd, type SignedLink } from '../../../core/signing/upload-link.ts'
import type { Removals } from '../../originals/delete.ts'

/** A reserved use of a link, while its upload runs. */
export interface LinkUse {
  /** The number of this use among the link's uses, from 0. */
  number: number
  /** Aborted when another process has taken over the use because this one missed its renewals. */
  signal: AbortSignal
  /** Records the key of the file before anything of it is stored. @throws Problem 409 when another process has the use, 503 */
  note(key: ObjectKey): Promise<void>
  /** Checks that this process still has the use, and renews its lease. @throws as {@link LinkUse.note} */
  confirm(): Promise<void>
  /** Consumes the use: the file is stored. Never throws: a later caller finds the file by the recorded key. */
  finish(): Promise<void>
  /** Releases the use: nothing was stored. Never throws. */
  release(): Promise<void>
}

/** Counts the uses of links. An upload reserves a use, and consumes it when the file is stored. */
export interface LinkUses {
  /**
   * @returns how many uses are not consumed, from 1; some of them may be reserved
   * @throws Problem 409 when all are consumed (`link_used`), 503
   */
  check(client: Client, link: SignedLink): Promise<number>
  /** @throws Problem 409 when all uses are consumed (`link_used`) or reserved (`link_busy`); 503 */
  reserve(client: Client, link: SignedLink): Promise<LinkUse>
}

const slot = z.union([
  z.literal('used'),
  z.object({ holder: z.string(), until: z.number(), key: z.string().optional() }),
  z.null(),
])
type Slot = z.infer<typeof slot>

// After a crash the use stays reserved this long.
const LEASE_MS = 20_000
/**
 * @param options.keptMs how long the uses are remembered after the last change, and after the end of their link. An upload may begin in
 *   the last second of a link: the time must be longer than any upload takes until its file is stored
 */
export function createLinkUses({
  ledger,
  index,
  removals,
  keptMs,
  now = Date.now,
}: {
  ledger: Ledger
  index: FileLookup
  removals: Removals
  keptMs: number
  now?: () => number
}): LinkUses {
  /** The state of a use whose lease has expired; undefined while its upload is not cleaned up. */
  async function settled(client: Client, { key }: { key?: string | undefined }): Promise<Slot | undefined> {
    if (key === undefined) return null
    const ref = { clientId: client.id, key: storedKey(key) }
    // Finishes the upload, or deletes its remains.
    await removals.sweep(client, ref)
    const { original } = await index.find(ref)
    if (original?.state === 'stored') return 'used'
    return original ? undefined : null
  }

  /** All uses, with expired leases settled. A use whose upload is not cleaned up yet stays reserved. */
  async function current(client: Client, slots: readonly Slot[]): Promise<Slot[]> {
    const settling = slots.map(async (one) => {
      if (one === null || one === 'used' || one.until > now()) return one
      const left = await settled(client, one)
      return left === undefined ? one : left
    })
    return Promise.all(settling)
  }

  const nameOf = (client: Client, { id }: SignedLink) => `link ${client.id} ${id}`

  function change<T>(
    client: Client,
    link: SignedLink,
    work: (slots: Slot[]) => Promise<{ slots: Slot[]; result: T }>,
  ): Promise<T> {
    return changeInLedger(ledger, nameOf(client, link), {
      forgetAt: Math.max(linkEnd(link), now()) + keptMs,
      async make(before) {
        const { slots, result } = await work(parse(before, link.uses))
        return { after: JSON.stringify(slots), result }
      },
    })
  }

  /** A use that was just reserved. Its lease is renewed from now on. */
  function held(
    client: Client,
    link: SignedLink,
    { number, holder }: { number: number; holder: string },
  ): LinkUse {
    const lost = new AbortController()
    let key: ObjectKey | undefined
    /** @throws Problem 409 when another process has the use */
    const put = (after: Slot) =>
      change(client, link, async (slots) => {
        const mine = slots[number]
        if (!mine || mine === 'used' || mine.holder !== holder) {
          lost.abort(busy())
          throw busy()
        }
        slots[number] = after
        return { slots, result: undefined }
      })
    const renew = () => put({ holder, until: now() + LEASE_MS, ...(key ? { key } : {}) })
    const endRenewals = keepRenewed(LEASE_MS, renew)
    const end = async (after: Slot) => {
      endRenewals()
      await put(after).catch(() => {})
    }
    return {
      number,
      signal: lost.signal,
      async note(named) {
        key = named
        await renew()
      },
      confirm: renew,
      finish: () => end('used'),
      async release() {
        // The file may be stored nevertheless: a request without a response may have been executed.
        const left = key === undefined ? null : await settled(client, { key }).catch(() => undefined)
        if (left === undefined) endRenewals()
        else await end(left)
      },
    }
  }

  return {
    async check(client, link) {
      const slots = parse(await ledger.find(nameOf(client, link)), link.uses)
      const left = slots.filter((one) => one !== 'used').length
      if (left === 0) throw used(link)
      return left
    },

    async reserve(client, link) {
      const holder = randomUUID()
      const number = await change(client, link, async (present) => {
        const slots = await current(client, present)
        const free = slots.indexOf(null)
        if (free === -1) throw slots.every((one) => one === 'used') ? used(link) : busy()
        slots[free] = { holder, until: now() + LEASE_MS }
        return { slots, result: free }
      })
      return held(client, link, { number, holder })
    },
  }
}

function parse(text: string | undefined, uses: number): Slot[] {
  const slots = text === undefined ? [] : z.array(slot).parse(JSON.parse(text))
  return Array.from({ length: uses }, (_, i) => slots[i] ?? null)
}

function used({ uses }: SignedLink): Problem {
  const often = uses === 1 ? 'already used' : `already used ${uses} times, its limit`
  return new Problem({ status: 409, code: 'link_used', detail: `This link was ${often}.` })
}

function busy(): Problem {
  return linkBusy('Another upload by this link is in progress. If it fails, the link can be used again.', {
    retryAfterSeconds: 5,
  })
}

/** 409: the link has no free use at the moment. */
export function linkBusy(detail: string, { retryAfterSeconds }: { retryAfterSeconds: number }): Problem {
  return new Problem({ status: 409, code: 'link_busy', detail, ...retryAfter(retryAfterSeconds) })
}
