import { join } from 'node:path'
import sharp from 'sharp'
import { derivativeOf, startSluice } from '../sluice.js'
import { get, startPeer } from './peer.js'

/** New widths of a large original that has been transformed before: Sluice has stored a smaller copy of it. */
export const laterJpeg = later({ name: 'later-jpeg', width: 8000, height: 6000, format: 'jpeg' })
export const laterPng = later({ name: 'later-png', width: 6000, height: 4000, format: 'png' })

function later({ name, width, height, format }) {
  const megapixels = (width * height) / 1e6
  return {
    name,
    title: `A new width of a ${format.toUpperCase()} of ${megapixels} megapixels, as WebP`,
    connections: 2,
    // As for cold.js: until the JavaScript is compiled, a request takes longer.
    counts: { full: { warmUp: 100, requests: 60 }, quick: { warmUp: 2, requests: 4 } },
    contenders: [
      {
        name: 'Sluice',
        async start({ folder, photos: [photo], nodeOptions }) {
          const file = await enlarged(photo, { folder, width, height, format })
          const { server, records } = await startSluice({ folder, uploads: [file], nodeOptions })
          return { server, request: (i) => derivativeOf(records[0], `w=${200 + i}&f=webp`) }
        },
      },
      {
        name: 'node:http + sharp',
        targets: { cpuMs: 0.2 },
        async start({ folder, photos: [photo] }) {
          const file = await enlarged(photo, { folder, width, height, format })
          return {
            server: await startPeer({ script: 'peers/sharp.js', args: [file, 'webp'], folder }),
            request: (i) => get(`/${200 + i}`),
          }
        },
      },
    ],
    async outcome(bytes) {
      const { width, height } = await sharp(bytes).metadata()
      return { width, height }
    },
  }
}

const WIDTHS = 6

/** Six widths that a page requests at once, compared with one after the other. */
export const together = {
  name: 'together',
  title: 'Six widths of a PNG of 24 megapixels at once',
  connections: WIDTHS,
  counts: { full: { warmUp: WIDTHS, requests: 4 * WIDTHS }, quick: { warmUp: 0, requests: WIDTHS } },
  contenders: [
    { name: 'Sluice', start: sixWidths },
    { name: 'Sluice, one after the other', connections: 1, targets: { cpuMs: 0.55 }, start: sixWidths },
  ],
  async outcome(bytes) {
    const { width, height } = await sharp(bytes).metadata()
    return { width, height }
  },
}

async function sixWidths({ folder, photos: [photo], nodeOptions }) {
  const file = await enlarged(photo, { folder, width: 6000, height: 4000, format: 'png' })
  // Without stored copies: only the shared decode is compared.
  const env = { PROXY_FROM_MEGAPIXELS: '0' }
  const { server, records } = await startSluice({ folder, uploads: [file], nodeOptions, env })
  return { server, request: (i) => derivativeOf(records[0], `w=${320 + 100 * (i % WIDTHS) + i}&f=webp`) }
}

async function enlarged(photo, { folder, width, height, format }) {
  const file = join(folder, `large.${format}`)
  await sharp(photo).resize(width, height, { fit: 'fill' }).toFormat(format, { quality: 85 }).toFile(file)
  return file
}
