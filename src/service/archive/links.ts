import { isValid } from '../../core/clients/client.ts'
import type { Grant } from '../../core/clients/grant.ts'
import { isFileId, newFileId } from '../../core/files/object-key.ts'
import type { Ledger } from '../../core/ports/ledger.ts'
import { fileNotFound, unlessStatus } from '../../core/problem.ts'
import type { ClientAccess } from '../clients/access.ts'
import { createLinkSpace } from './link-space.ts'
import type { ArchiveFiles } from './sources.ts'

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
   * @param grant that of the secret that requests the link: the link expires with it, or is revoked with it
   * @returns the id, of 128 random bits, and the expiry in milliseconds since 1970
   * @throws Problem 429 when the links of this client need too much space, 503
   */
  create(
    files: Pick<LinkedFiles, 'archiveName' | 'items'>,
    grant: Grant,
  ): Promise<{ id: string; expiresAt: number }>
  /** @throws Problem 404 for an unknown, expired or revoked link, or another name of the archive, 503 */
  open(id: string, archiveName: string): Promise<OpenedArchiveLink>
}

const LIFETIME_MS = 24 * 3600 * 1000

/** What the ledger has of a link. */
interface Stored extends Pick<LinkedFiles, 'archiveName' | 'items' | 'folder'>, Pick<Grant, 'secretDigest'> {
  client: string
  expiresAt: number
  etag?: string
}

export function createArchiveLinks({
  ledger,
  clients,
  now = Date.now,
}: {
  ledger: Ledger
  clients: Pick<ClientAccess, 'withId'>
  now?: () => number
}): ArchiveLinks {
  const nameOf = (id: string) => `archive ${id}`
  const space = createLinkSpace({ ledger, windowMs: LIFETIME_MS, now })

  /** The client of a link, while the secret that has requested it is valid. @throws Problem 503 */
  async function clientOf({ client: id, secretDigest }: Stored) {
    const client = await unlessStatus(404, (async () => clients.withId(id))())
    const isRevoked =
      secretDigest !== undefined &&
      !client?.secrets.some((secret) => secret.digest === secretDigest && isValid(secret, now()))
    return isRevoked ? undefined : client
  }

  return {
    async create({ archiveName, items }, { client, folder, until = Number.POSITIVE_INFINITY, secretDigest }) {
      const id = newFileId()
      const expiresAt = Math.min(now() + LIFETIME_MS, until)
      const stored: Stored = { client: client.id, archiveName, items, folder, secretDigest, expiresAt }
      const text = JSON.stringify(stored)
      await space.take(client.id, Buffer.byteLength(text))
      await ledger.replace(nameOf(id), undefined, text, { forgetAt: expiresAt })
      return { id, expiresAt }
    },

    async open(id, archiveName) {
      const text = isFileId(id) ? await ledger.find(nameOf(id)) : undefined
      const stored = text === undefined ? undefined : (JSON.parse(text) as Stored)
      if (stored?.archiveName !== archiveName || now() >= stored.expiresAt) throw fileNotFound()
      const client = await clientOf(stored)
      if (!client) throw fileNotFound()
      const { items, folder, expiresAt, etag } = stored
      return {
        client,
        archiveName,
        items,
        folder,
        ...(etag === undefined ? {} : { etag }),
        async note(etag) {
          // Another request may have been faster: then its ETag stays.
          await ledger.replace(nameOf(id), text, JSON.stringify({ ...stored, etag }), { forgetAt: expiresAt })
        },
      }
    },
  }
}
