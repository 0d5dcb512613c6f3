import type { Client } from '../../core/clients/client.ts'
import { newFileId } from '../../core/files/object-key.ts'
import type { Ledger } from '../../core/ports/ledger.ts'
import { fileNotFound } from '../../core/problem.ts'
import type { ArchiveFiles, ArchiveItem } from './sources.ts'

/** The files of an archive, as its link retains them. */
export type LinkedFiles = Pick<ArchiveFiles, 'client' | 'archiveName' | 'items' | 'folder'>

/** A link that was followed. */
export interface OpenedArchiveLink extends LinkedFiles {
  /** The ETag of the archive when it was first delivered with one. */
  etag?: string
  /** Retains the ETag of the first delivery. */
  note(etag: string): Promise<void>
}

/** Links by which an archive is downloaded without a secret, and resumed. */
export interface ArchiveLinks {
  /**
   * @param until latest expiry in milliseconds since 1970: that of the secret that requests the link
   * @returns the id, of 128 random bits, and the expiry in milliseconds since 1970
   * @throws Problem 503
   */
  create(
    files: LinkedFiles,
    options: { until?: number | undefined },
  ): Promise<{ id: string; expiresAt: number }>
  /** @throws Problem 404 for an unknown or expired link, or another name of the archive, 503 */
  open(id: string, archiveName: string): Promise<OpenedArchiveLink>
}

const LIFETIME_MS = 24 * 3600 * 1000

/** What the ledger has of a link. */
interface Stored {
  client: string
  archiveName: string
  items: ArchiveItem[]
  folder?: string
  expiresAt: number
  etag?: string
}

export function createArchiveLinks({
  ledger,
  findClient,
  now = Date.now,
}: {
  ledger: Ledger
  findClient: (id: string) => Client | undefined
  now?: () => number
}): ArchiveLinks {
  const nameOf = (id: string) => `archive ${id}`

  return {
    async create({ client, archiveName, items, folder }, { until = Number.POSITIVE_INFINITY }) {
      const id = newFileId()
      const expiresAt = Math.min(now() + LIFETIME_MS, until)
      const stored: Stored = {
        client: client.id,
        archiveName,
        items: [...items],
        ...(folder === undefined ? {} : { folder }),
        expiresAt,
      }
      await ledger.replace(nameOf(id), undefined, JSON.stringify(stored), { forgetAt: expiresAt })
      return { id, expiresAt }
    },

    async open(id, archiveName) {
      const text = await ledger.find(nameOf(id))
      if (text === undefined) throw fileNotFound()
      const { client: clientId, expiresAt, ...stored } = JSON.parse(text) as Stored
      const client = findClient(clientId)
      if (!client || client.removing || stored.archiveName !== archiveName || now() >= expiresAt)
        throw fileNotFound()
      return {
        ...stored,
        client,
        async note(etag) {
          const noted = JSON.stringify({ ...(JSON.parse(text) as Stored), etag })
          // Another request may have been faster: then its ETag stays.
          await ledger.replace(nameOf(id), text, noted, { forgetAt: expiresAt })
        },
      }
    },
  }
}
