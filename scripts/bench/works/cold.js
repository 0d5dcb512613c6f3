import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import sharp from 'sharp'
import { root } from '../../ready/run.js'
import { derivativeOf, startSluice } from '../sluice.js'
import { get, startPeer } from './peer.js'

const IPX = join(root, 'scripts/bench/ipx')

/** Further widths of one photo, each for the first time. After some, smaller copies of the photo are stored. */
export const coldJpeg = ofFormat('jpeg')
export const coldWebp = ofFormat('webp')
/** The same without stored smaller copies: each is rendered from the photo, as the first ones always are. */
export const coldDirect = {
  ...ofFormat('jpeg', { PROXY_FROM_MEGAPIXELS: '0' }),
  name: 'cold-direct',
  title: 'The same as JPEG, PROXY_FROM_MEGAPIXELS=0',
}

function ofFormat(format, env = {}) {
  // Of a work that switches something off, only the cost is of interest.
  const withTargets = (targets) => (Object.keys(env).length > 0 ? {} : { targets })
  return {
    name: `cold-${format}`,
    title: `Further widths of one photo, as ${format === 'jpeg' ? 'JPEG' : 'WebP'}`,
    connections: 4,
    // Until the server's JavaScript is compiled, a request takes 20 % longer, which would distort the figures.
    counts: { full: { warmUp: 200, requests: 300 }, quick: { warmUp: 2, requests: 4 } },
    contenders: [
      {
        name: 'Sluice',
        async start({ folder, photos: [photo], nodeOptions }) {
          const { server, records } = await startSluice({ folder, uploads: [photo], nodeOptions, env })
          return { server, request: (i) => derivativeOf(records[0], `w=${widthOf(i)}&f=${format}`) }
        },
      },
      {
        name: 'ipx',
        ...withTargets({ rate: 1.1 }),
        isInstalled: () => existsSync(join(IPX, 'node_modules/.package-lock.json')),
        start: async ({ folder, photos: [photo] }) => ({
          server: await startPeer({ script: 'ipx/server.js', args: [dirname(photo)], folder }),
          request: (i) => get(`/w_${widthOf(i)},f_${format},q_75/${basename(photo)}`),
        }),
      },
      {
        name: 'node:http + sharp',
        ...withTargets({ cpuMs: 1.08 }),
        start: async ({ folder, photos: [photo] }) => ({
          server: await startPeer({ script: 'peers/sharp.js', args: [photo, format], folder }),
          request: (i) => get(`/${widthOf(i)}`),
        }),
      },
    ],
    async outcome(bytes) {
      // Not the bytes: Sluice has other defaults of the encoders, see docs/explanation/encoders.md.
      const { format, width, height } = await sharp(bytes).metadata()
      return { format, width, height }
    },
  }
}

/** A new width for each request of a run. */
function widthOf(i) {
  return 300 + i
}
