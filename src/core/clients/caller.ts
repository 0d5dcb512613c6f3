/** The sender of a request or of other work. */
export interface Caller {
  /** The address as limits count it: an IPv4 address, or the first 64 bits of an IPv6 address. */
  address: string
  /**
   * Whether the request carried a secret of the client, or the client's rules or requests caused the work (eager
   * transforms, ZIP).
   */
  isTrusted: boolean
}

/** The caller of queued work, whose original request is not stored with it. */
export const QUEUE_CALLER: Caller = { address: 'queue', isTrusted: true }
