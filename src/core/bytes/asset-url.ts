/** What the URL of an asset has to do, see `Asset.urlFor`. */
export interface AssetUrlOptions {
  /** When the URL has to expire at the latest, in milliseconds since 1970; absent: the store decides. */
  until?: number | undefined
  /** The headers of the response. A public URL has those with which the object was stored. */
  headers: { cacheControl: string; contentType: string; contentDisposition?: string | undefined }
  /** Whether a URL is allowed that never expires, for bytes that everyone may read. */
  mayBePublic: boolean
}

/** A URL at which a store sends the bytes of an asset to anyone. */
export interface AssetUrl {
  url: string
  /** From when it no longer works, in milliseconds since 1970; absent for a URL that does not expire. */
  until?: number
}
