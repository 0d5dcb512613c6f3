import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import { root } from '../../ready/run.js'
import { derivativeOf, startSluice } from '../sluice.js'
import { get, startPeer } from './peer.js'

const IPX = join(root, 'scripts/bench/ipx')
const COUNTS = { full: { warmUp: 60, requests: 144 }, quick: { warmUp: 2, requests: 4 } }
// As usual cameras of phones store them for the web.
const [WIDTH, HEIGHT] = [2600, 2100]

/** The first derivative of each of many photos, as in a shop or a chat: no photo is requested twice. */
export const firstJpeg = first({ name: 'first-jpeg', format: 'jpeg', width: 400 })
export const firstLargeJpeg = first({ name: 'first-jpeg-1200', format: 'jpeg', width: 1200 })
export const firstWebp = first({ name: 'first-webp', format: 'webp', width: 800 })
export const firstAvif = first({
  name: 'first-avif',
  format: 'avif',
  width: 400,
  counts: { full: { warmUp: 8, requests: 36 }, quick: { warmUp: 1, requests: 2 } },
})

function first({ name, format, width, counts = COUNTS }) {
  const title = `First derivative of a photo of 5.5 megapixels: ${format.toUpperCase()}, ${width} px`
  const filesIn = (folder, photo) => differentPhotos(photo, { folder, count: mostOf(counts) })
  return {
    name,
    title,
    connections: 4,
    counts,
    contenders: [
      {
        name: 'Sluice',
        async start({ folder, photos: [photo], nodeOptions }) {
          const names = await filesIn(folder, photo)
          const uploads = names.map((one) => join(folder, 'photos', one))
          const { server, records } = await startSluice({ folder, uploads, nodeOptions })
          return { server, request: (i) => derivativeOf(records[i], `w=${width}&f=${format}`) }
        },
      },
      {
        name: 'node:http + sharp',
        targets: { cpuMs: 1.08, rate: 1, p50Ms: 1.1 },
        async start({ folder, photos: [photo] }) {
          const names = await filesIn(folder, photo)
          const args = [join(folder, 'photos'), format, String(width)]
          return {
            server: await startPeer({ script: 'peers/first.js', args, folder }),
            request: (i) => get(`/${names[i]}`),
          }
        },
      },
      {
        name: 'ipx',
        targets: { rate: 1.1 },
        isInstalled: () => existsSync(join(IPX, 'node_modules/.package-lock.json')),
        async start({ folder, photos: [photo] }) {
          const names = await filesIn(folder, photo)
          return {
            server: await startPeer({ script: 'ipx/server.js', args: [join(folder, 'photos')], folder }),
            request: (i) => get(`/w_${width},f_${format},q_75/${names[i]}`),
          }
        },
      },
    ],
    async outcome(bytes) {
      // Not the bytes: ipx has other defaults of the encoders.
      const { format: received, width: across, height } = await sharp(bytes).metadata()
      return { format: received, width: across, height }
    },
  }
}

/** All requests, and the one that is sent before them. */
function mostOf({ full: { warmUp, requests } }) {
  return warmUp + requests + 1
}

/** Photos with the same pixels and different bytes: each has a comment of its own. @returns their names, in `folder`/photos */
async function differentPhotos(photo, { folder, count }) {
  const photos = join(folder, 'photos')
  mkdirSync(photos)
  const jpeg = await sharp(readFileSync(photo))
    .resize(WIDTH, HEIGHT, { fit: 'fill' })
    .jpeg({ quality: 85 })
    .toBuffer()
  return Array.from({ length: count }, (_, i) => {
    const comment = Buffer.from(`photo ${i}`)
    const segment = Buffer.from([0xff, 0xfe, 0, comment.length + 2])
    const name = `photo-${i}.jpg`
    writeFileSync(
      join(photos, name),
      Buffer.concat([jpeg.subarray(0, 2), segment, comment, jpeg.subarray(2)]),
    )
    return name
  })
}
