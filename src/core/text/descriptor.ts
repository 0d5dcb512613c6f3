/**
 * Whether an open descriptor is a file on a disk. Pipes, sockets and the event loop's own descriptors have no path, and devices
 * hold no data of ours.
 *
 * @param link what `/proc/self/fd/<descriptor>` links to
 */
export function isFileLink(link: string): boolean {
  return /^\/(?!dev\/|proc\/)/.test(link)
}
