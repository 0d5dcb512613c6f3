import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import { derivativeOf, startSluice } from '../sluice.js'
import { get, startPeer } from './peer.js'

/** A derivative that is already stored. */
export const repeated = {
  name: 'repeated',
  title: 'A stored derivative',
  connections: 16,
  counts: { full: { warmUp: 5000, requests: 20_000 }, quick: { warmUp: 20, requests: 100 } },
  contenders: [
    {
      name: 'Sluice',
      async start({ folder, photos: [photo], nodeOptions }) {
        const { server, records } = await startSluice({ folder, uploads: [photo], nodeOptions })
        return { server, request: () => derivativeOf(records[0], 'w=600&f=webp') }
      },
    },
    {
      name: 'express.static',
      async start({ folder, photos: [photo] }) {
        const files = join(folder, 'files')
        mkdirSync(files)
        await sharp(photo).autoOrient().resize(600).webp({ quality: 75 }).toFile(join(files, 'small.webp'))
        const server = await startPeer({ script: 'peers/express-static.js', args: [files], folder })
        return { server, request: () => get('/small.webp') }
      },
    },
  ],
  outcome: (bytes) => ({ size: bytes.length }),
}
