import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import { root } from '../../ready/run.js'
import { derivativeOf, startSluice } from '../sluice.js'
import { get, startPeer } from './peer.js'
import { hasS3, startS3 } from './s3.js'

const IPX = join(root, 'scripts/bench/ipx')

const MANY = { full: { warmUp: 60, requests: 144 }, quick: { warmUp: 2, requests: 4 } }
const SOME = { full: { warmUp: 24, requests: 72 }, quick: { warmUp: 1, requests: 2 } }
const FEW = { full: { warmUp: 8, requests: 36 }, quick: { warmUp: 1, requests: 2 } }

const SMALL = { width: 1200, height: 900, label: '1 megapixel' }
// As usual cameras of phones store them for the web.
const USUAL = { width: 2600, height: 2100, label: '5.5 megapixels' }
const LARGE = { width: 6000, height: 4000, label: '24 megapixels' }

/** The first derivative of each of many photos, as in a shop or a chat: no photo is requested twice. */
export const FIRST_WORKS = [
  first({ name: 'first-jpeg', format: 'jpeg', width: 400 }),
  first({ name: 'first-jpeg-1200', format: 'jpeg', width: 1200 }),
  first({ name: 'first-webp', format: 'webp', width: 800 }),
  first({ name: 'first-avif', format: 'avif', width: 400, counts: FEW }),
  first({ name: 'first-of-small', size: SMALL, format: 'jpeg', width: 400 }),
  first({ name: 'first-of-large', size: LARGE, format: 'jpeg', width: 1200, counts: FEW }),
  first({ name: 'first-of-png', source: 'png', format: 'webp', width: 800, counts: SOME }),
  first({ name: 'first-of-webp', source: 'webp', format: 'webp', width: 800, counts: SOME }),
  first({ name: 'first-on-s3', format: 'jpeg', width: 400, onS3: true }),
]

function first({ name, source = 'jpeg', size = USUAL, format, width, counts = MANY, onS3 = false }) {
  const place = onS3 ? ' on S3' : ''
  const { warmUp, requests } = counts.full
  // All requests, and the one that is sent before them.
  const filesIn = (folder, photo) =>
    differentPhotos(photo, { folder, source, size, count: warmUp + requests + 1 })
  const isInstalled = () => !onS3 || hasS3()
  const ipx = {
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
  }
  return {
    name,
    title: `First derivative of a ${source.toUpperCase()} of ${size.label}${place}: ${format.toUpperCase()}, ${width} px`,
    connections: 4,
    counts,
    keepsFolders: true,
    contenders: [
      {
        name: 'Sluice',
        isInstalled,
        async start({ folder, photos: [photo], nodeOptions }) {
          const names = await filesIn(folder, photo)
          const uploads = names.map((one) => join(folder, 'photos', one))
          const { env, end } = onS3 ? await startS3(folder) : {}
          const { server, records } = await startSluice({ folder, uploads, nodeOptions, env })
          return { server, request: (i) => derivativeOf(records[i], `w=${width}&f=${format}`), end }
        },
      },
      {
        name: 'node:http + sharp',
        targets: { cpuMs: 1.08, rate: 1, p50Ms: 1.1 },
        isInstalled,
        async start({ folder, photos: [photo] }) {
          const names = await filesIn(folder, photo)
          const photos = join(folder, 'photos')
          const { env, end, put } = onS3 ? await startS3(folder) : {}
          await put?.(names.map((one) => join(photos, one)))
          const args = [format, String(width), ...(onS3 ? [] : [photos])]
          const server = await startPeer({ script: 'peers/first.js', args, folder, env })
          return { server, request: (i) => get(`/${names[i]}`), end }
        },
      },
      // It reads from folders.
      ...(onS3 ? [] : [ipx]),
    ],
    async outcome(bytes) {
      // Not the bytes: ipx has other defaults of the encoders.
      const { format: received, width: across, height } = await sharp(bytes).metadata()
      return { format: received, width: across, height }
    },
  }
}

/** Photos with the same pixels and different bytes. @returns their names, in `folder`/photos */
async function differentPhotos(photo, { folder, source, size: { width, height }, count }) {
  const photos = join(folder, 'photos')
  mkdirSync(photos)
  const bytes = await sharp(readFileSync(photo))
    .resize(width, height, { fit: 'fill' })
    .toFormat(source, { quality: 85 })
    .toBuffer()
  return Array.from({ length: count }, (_, i) => {
    const name = `photo-${i}.${source}`
    writeFileSync(join(photos, name), withText(bytes, { source, text: `photo ${i}` }))
    return name
  })
}

/** An image with a comment of its own: in its header as JPEG, after its end in other formats. */
function withText(bytes, { source, text }) {
  const comment = Buffer.from(text)
  if (source !== 'jpeg') return Buffer.concat([bytes, comment])
  const segment = Buffer.from([0xff, 0xfe, 0, comment.length + 2])
  return Buffer.concat([bytes.subarray(0, 2), segment, comment, bytes.subarray(2)])
}
