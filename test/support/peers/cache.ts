/** A cache in front of a service, on a free port for each way of being there. */
export interface Cache {
  /** Keeps nothing. */
  passing: { url: string }
  /** Caches files as the `Cache-Control` of the service permits. */
  caching: { url: string }
  /** Caches files for a second at most, and revalidates them then. */
  renewing: { url: string }
  stop(): Promise<void>
}
