import type { SignedUrl, SignedUrls } from '../generated/api.ts'
import { SIGNED_URLS_MAX } from '../generated/limits.ts'
import { SluiceError } from '../http/problem.ts'
import type { Api, CallOptions } from '../http/request.ts'

/** Options of a signature. */
export interface SignOptions extends CallOptions {
  /** The lifetime in seconds. Without it, the URL does not expire. */
  expiresIn?: number
}

type Text = string | { toString(): string }

/** Signed delivery URLs. */
export interface Urls {
  /** Signs many, in the same order. @throws SluiceError for the first one that cannot be signed */
  sign(urls: readonly Text[], options?: SignOptions): Promise<string[]>
  /** Signs a delivery URL. @throws SluiceError */
  sign(url: Text, options?: SignOptions): Promise<string>
}

/** Creates the calls for URLs. */
export function createUrls(api: Api): Urls {
  async function signMany(urls: readonly Text[], { signal, expiresIn }: SignOptions): Promise<string[]> {
    const signed: string[] = []
    for (let i = 0; i < urls.length; i += SIGNED_URLS_MAX) {
      const json = { urls: urls.slice(i, i + SIGNED_URLS_MAX).map(String), expiresIn }
      const { results } = await api.json<SignedUrls>({ ...REQUEST, json, signal })
      for (const result of results) {
        // The service states only the code: it is a refusal of this URL, not of the request.
        if (result.status === 'error')
          throw new SluiceError(result.detail, { code: result.code, status: 400 })
        signed.push(result.url)
      }
    }
    return signed
  }
  async function sign(given: Text | readonly Text[], { signal, expiresIn }: SignOptions = {}) {
    if (Array.isArray(given)) return signMany(given, { signal, expiresIn: expiresIn as number })
    const json = { url: String(given), expiresIn }
    return (await api.json<SignedUrl>({ ...REQUEST, json, signal })).url
  }
  return { sign: sign as Urls['sign'] }
}

const REQUEST = { method: 'POST', path: '/v1/sign/url', isIdempotent: true } as const
