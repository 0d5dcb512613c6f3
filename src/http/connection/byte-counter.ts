import type { Socket } from 'node:net'

/** Bytes of a connection, headers included. */
export interface Traffic {
  /** Sent to the client. */
  bytes: number
  /** Received from the client. */
  receivedBytes: number
}

/** The bytes that requests of a connection were charged for at their end. A property costs less than a WeakMap. */
const COUNTED = Symbol('counted bytes')

/**
 * The bytes of a connection since the last call. Called at the end of each request, it returns the bytes of that request. For
 * pipelined requests, only the sum is exact.
 */
export function trafficSince(connection: Socket): Traffic {
  const socket: Socket & { [COUNTED]?: Traffic } = connection
  const { bytesWritten, bytesRead } = socket
  socket[COUNTED] ??= { bytes: 0, receivedBytes: 0 }
  const counted = socket[COUNTED]
  const traffic = { bytes: bytesWritten - counted.bytes, receivedBytes: bytesRead - counted.receivedBytes }
  counted.bytes = bytesWritten
  counted.receivedBytes = bytesRead
  return traffic
}
