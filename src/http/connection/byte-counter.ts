import type { Socket } from 'node:net'

/** Bytes on the wire, headers included. */
export interface Traffic {
  /** To the client. */
  bytes: number
  /** From the client. */
  receivedBytes: number
}

// What the requests of a connection that have ended have accounted for.
const counted = new WeakMap<Socket, Traffic>()

/**
 * What has passed over a connection since the last call: what one request has moved, when it is called at the end of
 * each. Of requests sent without waiting for answers only the sum is exact.
 */
export function trafficSince(socket: Socket): Traffic {
  const before = counted.get(socket) ?? { bytes: 0, receivedBytes: 0 }
  const now = { bytes: socket.bytesWritten, receivedBytes: socket.bytesRead }
  counted.set(socket, now)
  return { bytes: now.bytes - before.bytes, receivedBytes: now.receivedBytes - before.receivedBytes }
}
