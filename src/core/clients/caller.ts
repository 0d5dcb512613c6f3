/** Who causes work. */
export interface Caller {
  /** As limits count it: an IPv4 address, or the first 64 bits of an IPv6 one. */
  address: string
  /**
   * Whether the request carried a secret of the client, or the client has asked for the work itself (eager transforms,
   * ZIP).
   */
  isTrusted: boolean
}

/** The caller of work that a queue has kept for a client, without the request that asked for it. */
export const QUEUE_CALLER: Caller = { address: 'queue', isTrusted: true }
