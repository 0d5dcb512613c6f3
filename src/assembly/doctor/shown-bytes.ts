/** A number of bytes as `1.5 GB` or `300 MB`. */
export function shownBytes(bytes: number): string {
  return bytes >= 1e9 ? `${Number((bytes / 1e9).toFixed(1))} GB` : `${Math.round(bytes / 1e6)} MB`
}
