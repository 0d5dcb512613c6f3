/** A cache in front of a service, on a free port for each way of being there. */
export interface Cache {
  /** Keeps nothing. */
  passing: { url: string }
  /** Caches files as the `Cache-Control` of the service permits. */
  caching: { url: string }
  /** Keeps files for a second at most, and asks then whether they have changed. */
  renewing: { url: string }
  stop(): Promise<void>
}
