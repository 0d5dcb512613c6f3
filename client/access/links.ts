import type { Api, CallOptions } from '../http/request.ts'

/** What an upload link allows. */
export interface LinkOptions extends CallOptions {
  /** The lifetime in seconds, from 1 to 604800. */
  expiresIn: number
  /** The folder of the files. */
  folder?: string
  /** The largest file, in bytes. */
  maxBytes?: number
  /** Media types such as `image/png` or `image/*`. Default: any. */
  types?: readonly string[]
  /** The number of files, from 1 to 100. Default: 1. */
  uses?: number
}

/** A signed upload link. Give it to a page, which passes it to {@link createUploader}. */
export interface SignedLink {
  url: string
  method: 'PUT'
  expiresAt: string
}

/** Signed upload links. */
export interface Links {
  /** Creates a link for uploads without the secret. @throws SluiceError */
  create(options: LinkOptions): Promise<SignedLink>
}

/** Creates the calls for links. */
export function createLinks(api: Api): Links {
  return {
    // A link that is never used has no effect, so a second one does no harm.
    create: ({ signal, ...json }) =>
      api.json({ method: 'POST', path: '/v1/sign', json, isIdempotent: true, signal }),
  }
}
