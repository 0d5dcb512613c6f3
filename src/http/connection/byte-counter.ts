import type { Socket } from 'node:net'

/** Bytes of a connection, headers included. */
export interface Traffic {
  /** Sent to the client. */
  bytes: number
  /** Received from the client. */
  receivedBytes: number
}

// Bytes that requests of a connection were charged for at their end.
const counted = new WeakMap<Socket, Traffic>()

/**
 * The bytes of a connection since the last call. Called at the end of each request, it returns the bytes of that request. For
 * pipelined requests, only the sum is exact.
 */
export function trafficSince(socket: Socket): Traffic {
  const before = counted.get(socket) ?? { bytes: 0, receivedBytes: 0 }
  const now = { bytes: socket.bytesWritten, receivedBytes: socket.bytesRead }
  counted.set(socket, now)
  return { bytes: now.bytes - before.bytes, receivedBytes: now.receivedBytes - before.receivedBytes }
}
