import { zipDirectory } from '../../zip-directory.js'
import { startSluice, zipOf } from '../sluice.js'
import { get, startPeer } from './peer.js'

const FILES = 20

/** An archive of files that are already compressed. */
export const zip = {
  name: 'zip',
  title: `A ZIP of ${FILES} photos`,
  connections: 2,
  counts: { full: { warmUp: 20, requests: 40 }, quick: { warmUp: 1, requests: 2 } },
  contenders: [
    {
      name: 'Sluice',
      async start({ folder, photos, nodeOptions }) {
        const { server, records } = await startSluice({ folder, uploads: photos, nodeOptions })
        return { server, request: () => zipOf(filled(records)) }
      },
    },
    {
      name: 'archiver',
      targets: { rate: 0.95 },
      async start({ folder, photos }) {
        const server = await startPeer({ script: 'peers/archiver.js', args: filled(photos), folder })
        return { server, request: () => get('/') }
      },
    },
  ],
  // Sluice's manifest, the last entry, is not compared.
  outcome(archive) {
    const entries = zipDirectory(archive).slice(0, FILES)
    // archiver opens all files at once, and adds them in the order in which they are found.
    return { sizes: entries.map(({ size }) => size).sort((one, other) => one - other) }
  },
  megabytes: (archive) => archive.length / 1e6,
}

/** As many items as the archive has, repeating the given ones. */
function filled(items) {
  return Array.from({ length: FILES }, (_, i) => items[i % items.length])
}
