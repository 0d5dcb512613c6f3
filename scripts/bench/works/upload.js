import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startSluice, uploadOf } from '../sluice.js'
import { startPeer } from './peer.js'

/** A large file in a form. */
export const upload = {
  name: 'upload',
  title: 'An upload of 32 MiB',
  connections: 2,
  counts: { full: { warmUp: 4, requests: 30 }, quick: { warmUp: 1, requests: 2 } },
  contenders: [
    {
      name: 'Sluice',
      async start({ folder, nodeOptions }) {
        const { server } = await startSluice({ folder, nodeOptions })
        return { server, request: () => form() }
      },
    },
    { name: 'busboy', start: ({ folder }) => startBusboy(folder, []) },
    {
      name: 'busboy, SHA-256, fsync',
      targets: { rate: 0.95 },
      start: ({ folder }) => startBusboy(folder, ['safe']),
    },
  ],
  outcome: (answer) => ({ sizes: JSON.parse(answer).map(({ size }) => size) }),
  megabytes: (answer) => JSON.parse(answer)[0].size / 1e6,
}

let made

// Random bytes, so that neither disk nor file system can compress them. Generated on first use.
function form() {
  made ??= uploadOf([{ name: 'big.bin', bytes: randomBytes(32 * 1024 * 1024) }])
  return made
}

async function startBusboy(folder, how) {
  const files = join(folder, 'files')
  mkdirSync(files)
  const server = await startPeer({ script: 'peers/busboy.js', args: [files, ...how], folder })
  return { server, request: () => form() }
}
