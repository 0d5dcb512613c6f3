import { z } from 'zod'
import type { Client } from '../../core/clients/client.ts'
import type { Ledger } from '../../core/ports/ledger.ts'
import { linkEnd, type SignedLink } from '../../core/signing/upload-link.ts'
import { changeInLedger } from './compare-and-set.ts'
import { type LinkUses, linkBusy } from './link-uses.ts'

/** An upload in several requests that was begun by a link. */
export interface BegunUpload {
  id: string
  /** Milliseconds since 1970. */
  at: number
}

/** Counts the uploads in several requests that are under way by links: what comes of them is kept before a use is taken. */
export interface LinkUploads {
  /**
   * Notes one that begins now. As many at a time may be under way as the link has uses left.
   * @param options `isUnderWay`: asked of those that were begun before, once no more may be
   * @throws Problem 409 when all uses are gone (`link_used`), or that many are under way (`link_busy`); 503
   */
  begin(
    client: Client,
    link: SignedLink,
    options: { id: string; isUnderWay: (begun: BegunUpload) => Promise<boolean> },
  ): Promise<void>
  /** It is under way no more. Throws nothing: the next one who begins one finds that out. */
  end(client: Client, link: SignedLink, id: string): Promise<void>
}

const list = z.array(z.object({ id: z.string(), at: z.number() }))

// Whoever still takes the link for a valid one, by a clock that is behind, finds what was noted.
const KEPT_AFTER_MS = 60_000
// For as long as another upload by the link may well take.
const RETRY_AFTER_SECONDS = 30

export function createLinkUploads({
  ledger,
  uses,
  now = Date.now,
}: {
  ledger: Ledger
  uses: Pick<LinkUses, 'check'>
  now?: () => number
}): LinkUploads {
  function change(
    client: Client,
    link: SignedLink,
    work: (begun: BegunUpload[]) => Promise<BegunUpload[]>,
  ): Promise<void> {
    return changeInLedger(ledger, `link uploads ${client.id} ${link.id}`, {
      forgetAt: linkEnd(link) + KEPT_AFTER_MS,
      async make(before) {
        const begun = await work(before === undefined ? [] : list.parse(JSON.parse(before)))
        return { after: begun.length === 0 ? undefined : JSON.stringify(begun), answer: undefined }
      },
    })
  }

  return {
    async begin(client, link, { id, isUnderWay }) {
      const left = await uses.check(client, link)
      await change(client, link, async (begun) => {
        const others: BegunUpload[] = []
        for (const one of begun) if (begun.length < left || (await isUnderWay(one))) others.push(one)
        if (others.length >= left)
          throw linkBusy('An upload by this link is not complete. Resume it, or delete it.', {
            retryAfterSeconds: RETRY_AFTER_SECONDS,
          })
        return [...others, { id, at: now() }]
      })
    },

    async end(client, link, id) {
      const others = async (begun: BegunUpload[]) => begun.filter((one) => one.id !== id)
      await change(client, link, others).catch(() => {})
    },
  }
}
