import { createHmac } from 'node:crypto'
import { anySignal } from '../../../core/async/any-signal.ts'
import type { Client } from '../../../core/clients/client.ts'
import { fileIdOf, newFileId, type OriginalName, parseFolder } from '../../../core/files/object-key.ts'
import { badParameter, Problem } from '../../../core/problem.ts'
import type { AppKeys } from '../../../core/signing/derive-key.ts'
import {
  EXPIRES_MAX_SECONDS,
  LINK_MAX_LENGTH,
  type LinkContentRules,
  linkEnd,
  linkTarget,
  linkTypes,
  NO_FOLDER,
  PIXELS_MAX,
  readLinkTarget,
  type SignedLink,
  USES_MAX,
} from '../../../core/signing/upload-link.ts'
import type { Originals } from '../../originals/originals.ts'
import { checkType } from '../rules/upload-rules.ts'
import type { Upload, UploadedFile, UploadRequest } from '../upload-request.ts'
import type { LinkUses } from './link-uses.ts'

/** The terms of a new link. */
export interface LinkRequest {
  folder: string | undefined
  /** From 1 to {@link EXPIRES_MAX_SECONDS}. */
  expiresInSeconds: number
  /** Limit of each file, from 1. */
  maxBytes?: number | undefined
  /** Accepted media types, such as `image/png`; at least one. */
  types?: readonly string[] | undefined
  /** Minimum and maximum of width × height of an image, both inclusive, from 1. */
  minPixels?: number | undefined
  maxPixels?: number | undefined
  /** Whether images must be decodable, and the headers of video and audio readable. */
  decodable?: boolean | undefined
  /** Number of files, from 1 to {@link USES_MAX}; default 1. */
  uses?: number | undefined
  /** Latest expiry in milliseconds since 1970: that of the secret that requests the link. */
  until?: number | undefined
}

/** A verified link and its client. */
export interface OpenedLink {
  client: Client
  link: SignedLink
}

/** Links by which files are uploaded without a secret. */
export interface SignedLinks {
  /**
   * @param baseUrl without a trailing slash
   * @returns the link, of at most {@link LINK_MAX_LENGTH} characters, and its expiry, in milliseconds since 1970
   * @throws Problem 400
   */
  sign(client: Client, request: LinkRequest, baseUrl: string): { url: string; expiresAt: number }
  /**
   * Verifies the link of a request, from its raw path and query.
   * @throws Problem 403 when it is invalid or expired
   */
  read(target: string): OpenedLink
  /** As `read`, for a link that began an upload: it may have expired since then. @throws Problem 403 when it is invalid */
  reopen(target: string): OpenedLink
  /** Checks that a link has uses left. @throws Problem 409, 503 */
  check(opened: OpenedLink): Promise<void>
  /**
   * Uploads one file by a link.
   * @param request `id`: the id of the file; by default it is derived from the link
   * @throws Problem 409 for a link that is used or busy, 413, 415 for a type that the link does not accept; as an upload
   */
  upload(
    opened: OpenedLink,
    request: Pick<UploadRequest, 'files' | 'check' | 'id' | 'sniffed' | 'patience' | 'signal'>,
  ): Promise<UploadedFile[]>
}

export function createSignedLinks({
  keys,
  uses,
  upload,
  originals,
  findClient,
  now = Date.now,
}: {
  keys: AppKeys
  uses: LinkUses
  upload: Upload
  originals: Originals
  findClient: (id: string) => Client | undefined
  now?: () => number
}): SignedLinks {
  const keyOf = (clientId: string) => keys(`upload links of ${clientId}`)

  /** The ids of a link for several files must not be guessable: an uploader could otherwise find the files of the others. */
  function fileId({ id, uses: count }: SignedLink, number: number): string {
    if (count === 1) return id
    return fileIdOf(createHmac('sha256', keys('files of upload links')).update(`${id} ${number}`).digest())
  }

  function reopen(target: string): OpenedLink {
    const link = readLinkTarget(target, keyOf)
    const client = link && findClient(link.clientId)
    if (!link || !client || client.removing) throw invalidLink()
    return { client, link }
  }

  function leftSeconds(until = Number.POSITIVE_INFINITY): number {
    return Math.max(1, Math.ceil((until - now()) / 1000))
  }

  /** The ledger of uses may have been emptied: a stored file shows that the use is consumed. */
  async function refuseStored(client: Client, name: OriginalName): Promise<void> {
    if (await originals.resolve(client, { full: name }))
      throw new Problem({
        status: 409,
        code: 'link_used',
        detail: 'The file of this link is already stored.',
      })
  }

  return {
    sign(client, { folder, expiresInSeconds, maxBytes, types, uses: count = 1, until, ...content }, baseUrl) {
      checkInteger(expiresInSeconds, { param: 'expiresIn', max: EXPIRES_MAX_SECONDS, unit: 'seconds' })
      if (maxBytes !== undefined) checkInteger(maxBytes, { param: 'maxBytes', unit: 'bytes' })
      checkInteger(count, { param: 'uses', max: USES_MAX, unit: 'uses' })
      const link: SignedLink = {
        id: newFileId(),
        clientId: client.id,
        folder: checkedFolder(folder),
        issuedAt: Math.floor(now() / 1000),
        expiresInSeconds: Math.min(expiresInSeconds, leftSeconds(until)),
        ...(maxBytes === undefined ? {} : { maxBytes }),
        ...(types ? { types: linkTypes(types) } : {}),
        ...contentOf(content),
        uses: count,
      }
      const url = `${baseUrl}${linkTarget(link, keyOf(client.id))}`
      if (url.length > LINK_MAX_LENGTH) throw tooLong(url)
      return { url, expiresAt: linkEnd(link) }
    },

    read(target) {
      const opened = reopen(target)
      const end = linkEnd(opened.link)
      if (now() >= end) throw expiredLink(end)
      return opened
    },

    reopen,

    async check({ client, link }) {
      await uses.check(client, link)
    },

    async upload({ client, link }, { files, check, id, sniffed, patience, signal }) {
      const use = await uses.reserve(client, link)
      const joined = anySignal([signal, use.signal])
      try {
        const stored = await upload({
          // Listed by name, not spread: the request of a caller may contain more, such as tags, which a link must not set.
          client,
          files,
          signal: joined.signal,
          ...{ ...(sniffed ? { sniffed } : {}), ...(patience ? { patience } : {}) },
          folder: link.folder === '' ? undefined : link.folder,
          id: id ?? fileId(link, use.number),
          ...(link.maxBytes === undefined ? {} : { maxBytes: link.maxBytes }),
          linkRules: link,
          check(format) {
            checkType(link.types, format, { owner: 'link' })
            check?.(format)
          },
          async begin(name) {
            await refuseStored(client, name)
            await use.note(name.key)
          },
          confirm: use.confirm,
        })
        await use.finish()
        return stored
      } catch (error) {
        await use.release()
        throw error
      } finally {
        joined.leave()
      }
    },
  }
}

/** @throws Problem 400 for anything but an integer from 1 */
function checkInteger(
  value: number,
  { param, unit, max }: { param: string; unit: string; max?: number },
): void {
  if (Number.isSafeInteger(value) && value >= 1 && (max === undefined || value <= max)) return
  const bounds = max === undefined ? 'from 1' : `from 1 to ${max}`
  throw badParameter({ param, expected: `an integer number of ${unit} ${bounds}`, received: value })
}

/** The rules of a link for the content of files. @throws Problem 400 */
function contentOf({
  minPixels,
  maxPixels,
  decodable,
}: Pick<LinkRequest, 'minPixels' | 'maxPixels' | 'decodable'>): LinkContentRules {
  const pixels = { unit: 'pixels', max: PIXELS_MAX }
  if (minPixels !== undefined) checkInteger(minPixels, { param: 'minPixels', ...pixels })
  if (maxPixels !== undefined) checkInteger(maxPixels, { param: 'maxPixels', ...pixels })
  if (minPixels !== undefined && maxPixels !== undefined && minPixels > maxPixels)
    throw badParameter({ param: 'minPixels', expected: 'at most maxPixels', received: minPixels })
  return {
    ...(minPixels === undefined ? {} : { minPixels }),
    ...(maxPixels === undefined ? {} : { maxPixels }),
    ...(decodable ? { isDecodable: true } : {}),
  }
}

function checkedFolder(folder: string | undefined): string {
  if (folder === NO_FOLDER)
    throw badParameter({ param: 'folder', expected: `a folder other than "${NO_FOLDER}"`, received: folder })
  return parseFolder(folder, 'folder')
}

function tooLong(url: string): Problem {
  return badParameter({
    param: 'folder',
    expected: `a folder and types that fit into a link of ${LINK_MAX_LENGTH} characters`,
    received: `${url.length} characters`,
  })
}

function invalidLink(): Problem {
  return new Problem({
    status: 403,
    code: 'link_invalid',
    detail: 'Invalid upload link: it was changed or is incomplete.',
  })
}

function expiredLink(end: number): Problem {
  return new Problem({
    status: 403,
    code: 'link_expired',
    detail: `This link expired at ${new Date(end).toISOString()}. Request a new one.`,
  })
}
