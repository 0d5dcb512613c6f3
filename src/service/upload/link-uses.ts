import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Client } from '../../core/clients/client.ts'
import { type ObjectKey, storedKey } from '../../core/files/object-key.ts'
import type { FileLookup } from '../../core/ports/file-index.ts'
import type { Ledger } from '../../core/ports/ledger.ts'
import { Problem, retryAfter } from '../../core/problem.ts'
import { linkEnd, type SignedLink } from '../../core/signing/upload-link.ts'
import type { Removals } from '../originals/delete.ts'
import { changeInLedger } from './compare-and-set.ts'

/** One use of a link, for as long as its upload runs. */
export interface LinkUse {
  /** Which of the link's uses it is, from 0. */
  number: number
  /** Aborted when somebody else has it by now: this process was taken for dead. */
  signal: AbortSignal
  /** Notes what is being stored, before anything of it is. @throws Problem 409 when somebody else has the use, 503 */
  note(key: ObjectKey): Promise<void>
  /** Makes sure, and for a while, that it is still ours. @throws as {@link LinkUse.note} */
  confirm(): Promise<void>
  /** The file is stored: the use is gone for good. Throws nothing: what was noted tells it to the next one who asks. */
  finish(): Promise<void>
  /** Nothing was stored: the use is free again. Throws nothing. */
  release(): Promise<void>
}

/** Counts the uses of links: each is reserved while its upload runs, and gone when that is stored. */
export interface LinkUses {
  /** @returns how many are left, or may be: from 1 @throws Problem 409 when all are used (`link_used`), 503 */
  check(client: Client, link: SignedLink): Promise<number>
  /** @throws Problem 409 when all are used (`link_used`), or running (`link_busy`); 503 */
  reserve(client: Client, link: SignedLink): Promise<LinkUse>
}

const slot = z.union([
  z.literal('used'),
  z.object({ holder: z.string(), until: z.number(), key: z.string().optional() }),
  z.null(),
])
type Slot = z.infer<typeof slot>

// Renewed three times in its length, so that two lost renewals do no harm. After a crash a link is busy for so long.
const LEASE_MS = 20_000
// An upload may be begun in a link's last second, and take long.
const KEPT_AFTER_MS = 24 * 3_600_000

export function createLinkUses({
  ledger,
  index,
  removals,
  now = Date.now,
}: {
  ledger: Ledger
  index: FileLookup
  removals: Removals
  now?: () => number
}): LinkUses {
  /** What is left of a use that nobody holds any more; undefined while that is not known yet. */
  async function settled(client: Client, { key }: { key?: string | undefined }): Promise<Slot | undefined> {
    if (key === undefined) return null
    const ref = { clientId: client.id, key: storedKey(key) }
    // Finishes it, or takes away what there is of it.
    await removals.sweep(client, ref)
    const { original } = await index.find(ref)
    if (original?.state === 'stored') return 'used'
    return original ? undefined : null
  }

  /** All uses as they are now. One whose upload has to be taken away first stays as it is. */
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
    work: (slots: Slot[]) => Promise<{ slots: Slot[]; answer: T }>,
  ): Promise<T> {
    return changeInLedger(ledger, nameOf(client, link), {
      forgetAt: linkEnd(link) + KEPT_AFTER_MS,
      async make(before) {
        const { slots, answer } = await work(parse(before, link.uses))
        return { after: JSON.stringify(slots), answer }
      },
    })
  }

  /** A use that has just been reserved; from now on it is renewed. */
  function held(
    client: Client,
    link: SignedLink,
    { number, holder }: { number: number; holder: string },
  ): LinkUse {
    const lost = new AbortController()
    let key: ObjectKey | undefined
    /** @throws Problem 409 when it is not ours any more */
    const put = (after: Slot) =>
      change(client, link, async (slots) => {
        const mine = slots[number]
        if (!mine || mine === 'used' || mine.holder !== holder) {
          lost.abort(busy())
          throw busy()
        }
        slots[number] = after
        return { slots, answer: undefined }
      })
    const renew = () => put({ holder, until: now() + LEASE_MS, ...(key ? { key } : {}) })
    const renewal = setInterval(() => void renew().catch(() => {}), LEASE_MS / 3)
    const end = async (after: Slot) => {
      clearInterval(renewal)
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
        // It may be there all the same: what did not answer may have been done.
        const left = key === undefined ? null : await settled(client, { key }).catch(() => undefined)
        if (left === undefined) clearInterval(renewal)
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
        return { slots, answer: free }
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

/** 409: no use of the link is to be had at the moment. */
export function linkBusy(detail: string, { retryAfterSeconds }: { retryAfterSeconds: number }): Problem {
  return new Problem({ status: 409, code: 'link_busy', detail, ...retryAfter(retryAfterSeconds) })
}
