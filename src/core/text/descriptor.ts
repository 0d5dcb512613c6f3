/**
 * Whether an open descriptor is a file on a disk. Pipes, sockets and the event loop's own descriptors have no path.
 * Devices hold no data of this service.
 *
 * @param link the target of `/proc/self/fd/<descriptor>`
 */
export function isFileLink(link: string): boolean {
  return /^\/(?!dev\/|proc\/)/.test(link)
}
