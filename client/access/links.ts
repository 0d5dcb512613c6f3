import type { UploadLink as SignedLink, UploadLinkRequest } from '../generated/api.ts'
import type { Api, CallOptions } from '../http/request.ts'

/** What an upload link allows. `expiresIn` is its lifetime in seconds. */
export type LinkOptions = CallOptions & UploadLinkRequest

/** Signed upload links. */
export interface Links {
  /** Creates a link for uploads without the secret. Give it to a page, which passes it to {@link createUploader}. @throws SluiceError */
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
