import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import sharp from 'sharp'
import { isNginxInstalled, startNginx } from '../peers/nginx.js'
import { derivativeOf, startSluice } from '../sluice.js'
import { get, startPeer } from './peer.js'

const QUERY = 'w=400&f=webp&q=60'
const COUNTS = { full: { warmUp: 5000, requests: 20_000 }, quick: { warmUp: 20, requests: 100 } }

/** A derivative of about 12 KB that is already stored, from the cache in memory. */
export const hot = {
  name: 'hot',
  title: 'A stored derivative',
  connections: 16,
  isLight: true,
  counts: COUNTS,
  contenders: [
    ofDerivative('Sluice', {}),
    { ...expressStatic(), targets: { cpuMs: 0.2 } },
    {
      name: 'node:http from memory',
      async start({ folder, photos: [photo] }) {
        const server = await startPeer({
          script: 'peers/memory.js',
          args: [await derivative(folder, photo)],
          folder,
        })
        return { server, request: () => get('/') }
      },
    },
    nginx(),
  ],
  outcome: (bytes) => ({ about: bytes.length }),
}

function nginx() {
  return {
    name: 'nginx',
    isInstalled: isNginxInstalled,
    async start({ folder, photos: [photo] }) {
      const file = await derivative(folder, photo)
      const server = await startNginx({ files: join(folder, 'files'), folder })
      return { server, request: () => get(`/${basename(file)}`) }
    },
  }
}

/** The same for more connections. */
export const crowded = { ...hot, name: 'crowded', title: 'The same, 32 connections', connections: 32 }

/** The same without the cache in memory. */
export const stored = {
  ...hot,
  name: 'stored',
  title: 'The same, HOT_CACHE_BYTES=0',
  contenders: [
    ofDerivative('Sluice', { HOT_CACHE_BYTES: '0' }),
    { ...expressStatic(), targets: { cpuMs: 1 } },
  ],
}

/** A request that is refused, compared with a file that is delivered. */
export const refused = {
  ...hot,
  name: 'refused',
  title: 'A 400, compared with a 200',
  contenders: [
    {
      name: 'Sluice',
      async start({ folder, photos: [photo], nodeOptions }) {
        const { server, records } = await startSluice({ folder, uploads: [photo], nodeOptions })
        return { server, request: () => ({ ...derivativeOf(records[0], 'w=abc'), status: 400 }) }
      },
    },
    { ...expressStatic(), targets: { cpuMs: 0.7 } },
  ],
  outcome: () => ({}),
}

const LARGE_BYTES = 5_000_000

/** A large original. */
export const original = ofLargeFile({ name: 'original', title: 'An original of 5 MB', requests: 600 })

/** Ranges of a large original. */
export const range = ofLargeFile({
  name: 'range',
  title: 'A range of 64 KB',
  requests: 10_000,
  headers: { Range: 'bytes=1000000-1065535' },
})
export const largeRange = ofLargeFile({
  name: 'range-1mb',
  title: 'A range of 1 MB',
  requests: 2000,
  headers: { Range: 'bytes=1000000-1999999' },
})

function ofLargeFile({ name, title, requests, headers = {} }) {
  const status = headers.Range ? 206 : 200
  return {
    name,
    title,
    connections: 16,
    isLight: true,
    counts: { full: { warmUp: requests / 4, requests }, quick: { warmUp: 4, requests: 10 } },
    contenders: [
      {
        name: 'Sluice',
        async start({ folder, nodeOptions }) {
          const file = join(folder, 'large.bin')
          writeFileSync(file, randomBytes(LARGE_BYTES))
          const { server, records } = await startSluice({ folder, uploads: [file], nodeOptions })
          return { server, request: () => ({ ...get(new URL(records[0].src).pathname), headers, status }) }
        },
      },
      {
        name: 'express.static',
        targets: { cpuMs: 0.85 },
        async start({ folder }) {
          const files = join(folder, 'files')
          mkdirSync(files)
          writeFileSync(join(files, 'large.bin'), randomBytes(LARGE_BYTES))
          const server = await startPeer({ script: 'peers/express-static.js', args: [files], folder })
          return { server, request: () => ({ ...get('/large.bin'), headers, status }) }
        },
      },
    ],
    outcome: (bytes) => ({ size: bytes.length }),
  }
}

function ofDerivative(name, env) {
  return {
    name,
    async start({ folder, photos: [photo], nodeOptions }) {
      const { server, records } = await startSluice({ folder, uploads: [photo], nodeOptions, env })
      return { server, request: () => derivativeOf(records[0], QUERY) }
    },
  }
}

function expressStatic() {
  return {
    name: 'express.static',
    async start({ folder, photos: [photo] }) {
      const file = await derivative(folder, photo)
      const server = await startPeer({
        script: 'peers/express-static.js',
        args: [join(folder, 'files')],
        folder,
      })
      return { server, request: () => get(`/${basename(file)}`) }
    },
  }
}

/** The file that {@link QUERY} renders. */
async function derivative(folder, photo) {
  const files = join(folder, 'files')
  mkdirSync(files)
  const file = join(files, 'small.webp')
  await sharp(photo).autoOrient().resize(400).webp({ quality: 60 }).toFile(file)
  return file
}
