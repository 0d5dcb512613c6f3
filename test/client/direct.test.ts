import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DeleteBucketCorsCommand, PutBucketCorsCommand } from '@aws-sdk/client-s3'
import { expect } from 'chai'
import { build } from 'esbuild'
import { createClient, createUploader } from '../../client/index.ts'
import { EMBEDDED } from '../support/backend.ts'
import { S3_EMBEDDED, stoppedAtTheEnd } from '../support/backends.ts'
import { eventually } from '../support/eventually.ts'
import { type Chromium, startChromium } from '../support/peers/chromium.ts'
import { rejection } from '../support/rejection.ts'
import { noise } from '../support/requests/tus.ts'
import { freePort } from '../support/servers/free-port.ts'
import { s3Env } from '../support/servers/on-s3.ts'
import { s3Server } from '../support/servers/s3-server.ts'
import { PROJECT, type Service, startService } from '../support/service.ts'

const MIB = 1024 ** 2
const BYTES = noise(35 * MIB)
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

describe('direct uploads of the client library', function () {
  this.timeout(60_000)
  const start = stoppedAtTheEnd((options) => startService({ backend: S3_EMBEDDED, ...options }))
  let service: Service
  before(async () => {
    service = await start()
  })

  /** A client with the list of its requests: their methods, and what they are for. */
  function watched(of: Service, decide: (kind: string, times: number) => void = () => {}) {
    const kinds: string[] = []
    const kindOf = (url: string) => {
      if (!url.startsWith(of.url)) return 'bucket'
      return url.includes('/v1/upload/direct') ? 'direct' : (/\/v1\/(\w+)/.exec(url)?.[1] ?? '')
    }
    const watchedFetch: typeof fetch = async (url, init) => {
      const kind = `${init?.method} ${kindOf(String(url))}`
      kinds.push(kind)
      decide(kind, kinds.filter((one) => one === kind).length)
      return fetch(url, init)
    }
    const { url: baseUrl, tokens } = of
    const options = { baseUrl, secret: tokens.secretClientToken, fetch: watchedFetch }
    return { ...createClient(options), kinds, fetch: watchedFetch }
  }
  const pieces = async (of: Service) => (await of.objects()).filter((key) => key.includes('/tus/pieces/'))

  it('send the parts to the bucket, and report the progress', async () => {
    const { files, kinds } = watched(service)
    const path = join(service.dataDir, 'film.bin')
    await writeFile(path, BYTES)
    const progress: number[] = []
    const record = await files.upload(
      { path },
      { direct: true, folder: 'a', tags: ['x'], onProgress: ({ sentBytes }) => progress.push(sentBytes) },
    )
    expect(kinds).to.deep.equal(['POST direct', 'PUT bucket', 'PUT bucket', 'PUT bucket', 'POST direct'])
    expect(record).to.include({ originalName: 'film.bin', size: BYTES.length })
    expect(await files.get(record)).to.deep.include({ sha256: sha256(BYTES), tags: ['x'] })
    expect([progress[0], progress.at(-1)]).to.deep.equal([0, BYTES.length])
    expect(progress).to.deep.equal(progress.toSorted((one, other) => one - other))
  })

  it('send small files and streams to the service', async () => {
    const { files, kinds } = watched(service)
    await files.upload(BYTES.subarray(0, 100), { direct: true })
    await files.upload(new Blob([BYTES]).stream(), { direct: true })
    expect(kinds).not.to.include('PUT bucket')
  })

  it('repeat a part that fails, and no other', async () => {
    const { files, kinds } = watched(service, (kind, times) => {
      if (kind === 'PUT bucket' && times === 2) throw new TypeError('fetch failed')
    })
    const record = await files.upload(BYTES, { direct: true })
    expect(kinds.filter((kind) => kind === 'PUT bucket')).to.have.lengthOf(4)
    expect(await files.get(record)).to.include({ sha256: sha256(BYTES) })
  })

  it('are deleted when they are aborted', async () => {
    const end = new AbortController()
    const { files } = watched(service, (kind, times) => {
      if (kind === 'PUT bucket' && times === 2) end.abort(new Error('left'))
    })
    const error = await rejection(files.upload(BYTES, { direct: true, signal: end.signal }))
    expect(error).to.include({ message: 'left' })
    await eventually(async () => expect(await pieces(service)).to.deep.equal([]))
  })

  it('send the file to a service with a disk', async () => {
    const onDisk = await start({ backend: EMBEDDED })
    const { files, kinds } = watched(onDisk)
    const record = await files.upload(BYTES, { direct: true })
    expect(await files.get(record)).to.include({ sha256: sha256(BYTES) })
    expect(kinds.slice(0, 2)).to.deep.equal(['POST direct', 'POST tus'])
  })

  it('send the file to the service when the bucket cannot be reached, also by a link', async () => {
    const apart = await start({ env: { S3_DIRECT_ENDPOINT: `http://127.0.0.1:${await freePort()}` } })
    const { files, links, kinds, fetch: watchedFetch } = watched(apart)
    const record = await files.upload(BYTES, { direct: true })
    expect(await files.get(record)).to.include({ sha256: sha256(BYTES) })
    expect(kinds.slice(0, 4)).to.deep.equal(['POST direct', 'PUT bucket', 'DELETE direct', 'POST tus'])
    const link = await links.create({ expiresIn: 600 })
    kinds.length = 0
    const uploader = createUploader({ link, fetch: watchedFetch })
    expect(await uploader.upload(BYTES, { direct: true })).to.include({ size: BYTES.length })
    expect(kinds.slice(0, 4)).to.deep.equal(['POST direct', 'PUT bucket', 'DELETE direct', 'POST upload'])
    expect(await pieces(apart)).to.deep.equal([])
  })

  describe('in Chromium, in a page of another origin', () => {
    let chromium: Chromium
    let page: Server
    before(async () => {
      const { outputFiles } = await build({
        entryPoints: [join(PROJECT, 'client', 'index.ts')],
        ...{ bundle: true, write: false, format: 'iife', globalName: 'sluice' },
      })
      page = createServer((req, res) => {
        const isScript = req.url === '/sluice.js'
        res.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html')
        res.end(isScript ? outputFiles?.[0]?.text : '<!doctype html><script src="/sluice.js"></script>')
      }).listen(0, '127.0.0.1')
      ;[chromium] = await Promise.all([startChromium(), once(page, 'listening')])
    })
    after(async () => {
      await chromium.stop()
      page.close()
    })

    const upload = async () => {
      const { links } = watched(service)
      const { url } = await links.create({ expiresIn: 600, folder: 'page' })
      await chromium.open(`http://127.0.0.1:${(page.address() as AddressInfo).port}/?${Math.random()}`)
      return chromium.evaluate(`(async () => {
        const file = new File([new Uint8Array(17 * 1024 ** 2).fill(7)], 'a.bin')
        const sent = []
        const onProgress = ({ sentBytes, totalBytes }) => sent.push(sentBytes / totalBytes)
        const { size, s3PathOriginal } = await sluice.uploadToLink('${url}', file, { direct: true, onProgress })
        const requests = performance.getEntriesByType('resource').map(({ name }) => new URL(name))
        return {
          size,
          folder: s3PathOriginal.split('/')[0],
          last: sent.at(-1),
          byTus: requests.some(({ pathname }) => pathname.startsWith('/v1/tus/')),
          toBucket: requests.filter(({ search }) => search.includes('uploadId=')).length > 1,
        }
      })()`)
    }

    it('send the file to the service without a CORS rule, and to the bucket with the documented one', async () => {
      const { client } = await s3Server()
      const { S3_BUCKET: Bucket } = await s3Env('')
      const common = { size: 17 * MIB, folder: 'page', last: 1 }
      expect(await upload()).to.deep.equal({ ...common, byTus: true, toBucket: false })
      await client.send(
        new PutBucketCorsCommand({
          Bucket,
          CORSConfiguration: {
            CORSRules: [
              {
                AllowedMethods: ['PUT'],
                AllowedOrigins: [`http://127.0.0.1:${(page.address() as AddressInfo).port}`],
                AllowedHeaders: ['content-type'],
                MaxAgeSeconds: 3600,
              },
            ],
          },
        }),
      )
      try {
        expect(await upload()).to.deep.equal({ ...common, byTus: false, toBucket: true })
      } finally {
        await client.send(new DeleteBucketCorsCommand({ Bucket }))
      }
    })
  })
})
