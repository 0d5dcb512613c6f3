import { z } from 'zod'
import type { Client } from '../../../core/clients/client.ts'
import { changeInLedger, type Ledger } from '../../../core/ports/ledger.ts'
import { linkEnd, type SignedLink } from '../../../core/signing/upload-link.ts'
import { type LinkUses, linkBusy } from './link-uses.ts'

/** A resumable upload that was begun by a signed link. */
export interface BegunUpload {
  id: string
  /** Milliseconds since 1970. */
  at: number
  /** Size of a part of another upload, or more for a small one; undefined for an upload that becomes a file. */
  partBytes?: number | undefined
}

/** Counts the resumable uploads in progress of each link: their bytes are stored before a use of the link is reserved. */
export interface LinkUploads {
  /**
   * Registers an upload that begins. A link may have as many uploads in progress as it has uses left.
   * The parts of uploads do not count, but all parts together may have as many bytes as its files, and be a hundred for each.
   * @param options `isUnderWay`: called for the earlier uploads when the limit is reached, to drop abandoned ones; `part`: for a
   *   part, its size and the maximum size of a file
   * @throws Problem 409 when all uses are consumed (`link_used`) or as many uploads are in progress (`link_busy`); 503
   */
  begin(
    client: Client,
    link: SignedLink,
    options: {
      id: string
      isUnderWay: (begun: BegunUpload) => Promise<boolean>
      part?: { bytes: number; maxBytes: number }
    },
  ): Promise<void>
  /** Removes an upload from the count. Never throws: the next `begin` detects uploads that have ended. */
  end(client: Client, link: SignedLink, id: string): Promise<void>
}

const list = z.array(z.object({ id: z.string(), at: z.number(), partBytes: z.number().optional() }))

// A process whose clock is behind may still accept the link, and must find its count.
const RETENTION_MS = 60_000
// Parts of no bytes would otherwise be unlimited.
const PARTS_PER_FILE = 100
// A typical duration of another upload by the same link.
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
      forgetAt: linkEnd(link) + RETENTION_MS,
      async make(before) {
        const begun = await work(before === undefined ? [] : list.parse(JSON.parse(before)))
        return { after: begun.length === 0 ? undefined : JSON.stringify(begun), result: undefined }
      },
    })
  }

  return {
    async begin(client, link, { id, isUnderWay, part }) {
      const left = await uses.check(client, link)
      const partBytes = part && Math.max(part.bytes, Math.ceil(part.maxBytes / (PARTS_PER_FILE + 1)))
      /** How many uses the uploads take, with the new one. */
      const used = (begun: readonly BegunUpload[]) => {
        if (part === undefined) return begun.filter((one) => one.partBytes === undefined).length + 1
        return begun.reduce((sum, one) => sum + (one.partBytes ?? 0), partBytes ?? 0) / part.maxBytes
      }
      await change(client, link, async (begun) => {
        const others: BegunUpload[] = []
        const isFull = used(begun) > left
        for (const one of begun) if (!isFull || (await isUnderWay(one))) others.push(one)
        if (used(others) > left)
          throw linkBusy('An upload by this link is not complete. Resume it, or delete it.', {
            retryAfterSeconds: RETRY_AFTER_SECONDS,
          })
        return [...others, { id, at: now(), ...(partBytes === undefined ? {} : { partBytes }) }]
      })
    },

    async end(client, link, id) {
      const others = async (begun: BegunUpload[]) => begun.filter((one) => one.id !== id)
      await change(client, link, others).catch(() => {})
    },
  }
}
