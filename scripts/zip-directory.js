/**
 * The entries of a ZIP archive without zip64, from its central directory.
 *
 * @see APPNOTE.TXT sections 4.3.12 and 4.3.16
 */
export function zipDirectory(zip) {
  const end = zip.lastIndexOf('PK\x05\x06', undefined, 'latin1')
  if (end < 0) throw new Error(`expected a ZIP archive, received ${zip.length} bytes of something else`)
  const entries = []
  let entry = zip.readUInt32LE(end + 16)
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const [name, extra, comment] = [28, 30, 32].map((offset) => zip.readUInt16LE(entry + offset))
    entries.push({
      name: zip.toString('utf8', entry + 46, entry + 46 + name),
      size: zip.readUInt32LE(entry + 24),
    })
    entry += 46 + name + extra + comment
  }
  return entries
}
