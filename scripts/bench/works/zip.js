import { zipDirectory } from '../../zip-directory.js'
import { startSluice, zipOf } from '../sluice.js'
import { get, startPeer } from './peer.js'

const FILES = 20

/** An archive of files that are compressed already. */
export const zip = {
  name: 'zip',
  title: `A ZIP of ${FILES} photos`,
  connections: 2,
  counts: { full: { warmUp: 20, requests: 40 }, quick: { warmUp: 1, requests: 4 } },
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
      async start({ folder, photos }) {
        const server = await startPeer({ script: 'peers/archiver.js', args: filled(photos), folder })
        return { server, request: () => get('/') }
      },
    },
  ],
  // Sluice's manifest, the last one, is no part of the work.
  outcome(archive) {
    const entries = zipDirectory(archive).slice(0, FILES)
    // archiver asks for all files at once, and takes them as they are found.
    return { sizes: entries.map(({ size }) => size).sort((one, other) => one - other) }
  },
  megabytes: (archive) => archive.length / 1e6,
}

/** As many as the archive has, of those that there are. */
function filled(items) {
  return Array.from({ length: FILES }, (_, i) => items[i % items.length])
}
