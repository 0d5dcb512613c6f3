import { isValid } from '../../core/clients/client.ts'
import type { Grant } from '../../core/clients/grant.ts'
import { isFileId, newFileId } from '../../core/files/object-key.ts'
import { changeInLedger, type Ledger } from '../../core/ports/ledger.ts'
import { fileNotFound, unlessStatus } from '../../core/problem.ts'
import type { ClientAccess } from '../clients/access.ts'
import { createLinkSpace } from './link-space.ts'
import type { ArchiveFiles } from './sources.ts'

/** The files of an archive, as its link retains them. */
export type LinkedFiles = Pick<ArchiveFiles, 'client' | 'archiveName' | 'items' | 'folder'>

/** A link that was followed. */
export interface OpenedArchiveLink extends LinkedFiles {
  /**
   * Notes that bytes of an archive are delivered.
   * @param etag undefined for an archive whose bytes are not known before it is sent
   * @returns whether this link has never delivered bytes of another archive
   * @throws Problem 503
   */
  delivers(etag: string | undefined): Promise<boolean>
}

/** Links by which an archive is downloaded without a secret, and resumed. */
export interface ArchiveLinks {
  /**
   * @param files `etag`: of the archive now, if it is known
   * @param grant that of the secret that requests the link: the link expires with it, or is revoked with it
   * @returns the id, of 128 random bits, and the expiry in milliseconds since 1970
   * @throws Problem 429 when the links of this client need too much space, 503
   */
  create(
    files: Pick<LinkedFiles, 'archiveName' | 'items'> & { etag?: string | undefined },
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
  /** Of the archive, first as it was when the link was created. Null when other or unknown bytes were delivered. */
  etag?: string | null | undefined
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

  async function read(id: string): Promise<Stored | undefined> {
    const text = await ledger.find(nameOf(id))
    return text === undefined ? undefined : (JSON.parse(text) as Stored)
  }

  /** The client of a link, while the secret that has requested it is valid. @throws Problem 503 */
  async function clientOf({ client: id, secretDigest }: Stored) {
    const client = await unlessStatus(404, (async () => clients.withId(id))())
    const isRevoked =
      secretDigest !== undefined &&
      !client?.secrets.some((secret) => secret.digest === secretDigest && isValid(secret, now()))
    return isRevoked ? undefined : client
  }

  return {
    async create(
      { archiveName, items, etag },
      { client, folder, until = Number.POSITIVE_INFINITY, secretDigest },
    ) {
      const id = newFileId()
      const expiresAt = Math.min(now() + LIFETIME_MS, until)
      const stored: Stored = { client: client.id, archiveName, items, folder, secretDigest, expiresAt, etag }
      const text = JSON.stringify(stored)
      await space.take(client.id, Buffer.byteLength(text))
      await ledger.replace(nameOf(id), undefined, text, { forgetAt: expiresAt })
      return { id, expiresAt }
    },

    async open(id, archiveName) {
      const stored = isFileId(id) ? await read(id) : undefined
      if (stored?.archiveName !== archiveName) throw fileNotFound()
      const { items, folder, expiresAt } = stored
      const client = now() < expiresAt ? await clientOf(stored) : undefined
      if (!client) throw fileNotFound()
      return {
        client,
        archiveName,
        items,
        folder,
        delivers: (etag) =>
          changeInLedger(ledger, nameOf(id), {
            async make(before) {
              if (before === undefined) throw fileNotFound()
              const current = JSON.parse(before) as Stored
              const { etag: known = etag ?? null } = current
              const noted = known === etag ? etag : null
              const after = noted === current.etag ? before : JSON.stringify({ ...current, etag: noted })
              return { after, result: noted !== null }
            },
            forgetAt: expiresAt,
          }),
      }
    },
  }
}
