import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { rename, stat, truncate, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect } from 'chai'
import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import {
  type ClientOptions,
  createClient,
  createUploader,
  type UploadOptions,
  type UploadProgress,
  uploadToLink,
} from '../../client/index.ts'
import { openPath } from '../../client/upload/path.ts'
import { EMBEDDED } from '../support/backend.ts'
import { S3_EMBEDDED, stoppedAtTheEnd } from '../support/backends.ts'
import { eventually } from '../support/eventually.ts'
import { startPage } from '../support/peers/browser-pages.ts'
import { rejection } from '../support/rejection.ts'
import { memoryStore } from '../support/requests/tus.ts'
import { freePort } from '../support/servers/free-port.ts'
import { allowOrigin } from '../support/servers/on-s3.ts'
import { s3Server } from '../support/servers/s3-server.ts'
import { PROJECT, type Service, startService } from '../support/service.ts'
import { itLong, sized } from '../support/sized.ts'
import { wrapBuckets } from '../support/storage.ts'
import { inSmallParts, oneByOne, PART_BYTES } from '../support/stored/direct-uploads.ts'
import { noise } from '../support/stored/noise.ts'

const MIB = 1024 ** 2
// Three parts.
const BYTES = noise(11 * MIB)
// Where it matters only how often something is tried.
const SOME = BYTES.subarray(0, 2 * MIB)
const FROM_ONE_MIB = { resumableFromBytes: MIB }
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

describe('direct uploads of the client library', () => {
  const start = stoppedAtTheEnd((options) => startService({ backend: S3_EMBEDDED, ...options }))
  let service: Service
  before(async () => {
    service = await start({ wrapStorage: wrapBuckets(inSmallParts) })
  })

  /** A client with the list of its requests: their methods, and what they are for. */
  function watched(
    of: Service,
    decide: (kind: string, times: number) => Response | Promise<void> | void = () => {},
    more: Partial<ClientOptions> = {},
  ) {
    const kinds: string[] = []
    const kindOf = (url: string) => {
      if (!url.startsWith(of.url)) return 'bucket'
      return url.includes('/v1/upload/direct') ? 'direct' : (/\/v1\/(\w+)/.exec(url)?.[1] ?? '')
    }
    const watchedFetch: typeof fetch = async (url, init) => {
      const kind = `${init?.method} ${kindOf(String(url))}`
      kinds.push(kind)
      const response = await decide(kind, kinds.filter((one) => one === kind).length)
      return response ?? fetch(url, init)
    }
    const { url: baseUrl, tokens } = of
    const options = { baseUrl, secret: tokens.secretClientToken, fetch: watchedFetch, ...more }
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

  it('hold no large part of a path in memory', async () => {
    const path = join(service.dataDir, 'large.bin')
    await writeFile(path, '')
    await truncate(path, 100 * MIB)
    const source = await openPath(path, undefined)
    const { bytes, isLast } = await source.chunk(60 * MIB, 40 * MIB)
    expect([bytes.size, isLast]).to.deep.equal([40 * MIB, true])
    const { ino } = await stat(path)
    await writeFile(`${path}.new`, '')
    await truncate(`${path}.new`, 100 * MIB)
    await rename(`${path}.new`, path)
    expect((await stat(path)).ino).not.to.equal(ino)
    expect(String(await rejection(source.chunk(0, 40 * MIB)))).to.include('was changed')
    await truncate(path, MIB)
    // It is read only now.
    expect(await rejection(bytes.arrayBuffer())).to.have.property('name', 'NotReadableError')
    expect(String(await rejection(source.chunk(0, 40 * MIB)))).to.include('was changed')
    await source.close()
    // In case of a redirect, fetch would hold it.
    const redirects = new Set<unknown>()
    const noted: typeof fetch = (url, init) => {
      if (init?.method === 'PUT') redirects.add(init.redirect)
      return fetch(url, init)
    }
    const { url: baseUrl, tokens } = service
    const { files } = createClient({ baseUrl, secret: tokens.secretClientToken, fetch: noted })
    await files.upload(BYTES, { direct: true })
    expect([...redirects]).to.deep.equal(['error'])
  })

  it('wait for a service that restarts when all bytes have arrived, and while the file is stored', async () => {
    const answers = [500, 202, 500].map(
      (status) => new Response('{}', { status, headers: { 'Retry-After': '0' } }),
    )
    const { files, kinds } = watched(service, (kind) =>
      kind === 'POST direct' && kinds.length > 2 ? answers.shift() : undefined,
    )
    const options = { direct: true, resumableFromBytes: 10 }
    expect((await files.upload(BYTES.subarray(0, 100), options)).size).to.equal(100)
    expect(kinds).to.deep.equal(['POST direct', 'PUT bucket', ...Array(4).fill('POST direct')])
    // One that can be resumed does not wait before: the caller may show why.
    const resume = memoryStore()
    const resumed = () => files.upload(new File([BYTES.subarray(0, 100)], 'a.bin'), { ...options, resume })
    answers.push(new Response('', { status: 500 }))
    expect(await rejection(resumed())).to.have.property('status', 500)
    expect((await resumed()).size).to.equal(100)
  })

  it('are not deleted after an outage, also when they cannot be resumed', async () => {
    const own = await start({ wrapStorage: wrapBuckets(inSmallParts) })
    const { now } = performance
    let awayMs = 0
    performance.now = () => now.call(performance) + awayMs
    try {
      const { files, kinds } = watched(own, (kind, times) => {
        if (kind !== 'PUT bucket' || times === 1) return
        if (times > 3) awayMs = 121_000
        throw new TypeError('fetch failed')
      })
      expect(await rejection(files.upload(BYTES, { direct: true }))).to.have.property('code', 'network')
      await new Promise(setImmediate)
      expect(kinds).to.include('PUT bucket').and.not.include('DELETE direct')
    } finally {
      performance.now = now
    }
  })

  itLong('end when the service never finds the parts that the bucket has accepted', async () => {
    const blind = await start({
      wrapStorage: wrapBuckets((bucket) => ({ ...oneByOne(bucket), partsOf: async () => [] })),
    })
    const { files, kinds } = watched(blind)
    expect(await rejection(files.upload(BYTES, { direct: true }))).to.have.property('code', 'bad_response')
    expect(kinds.filter((kind) => kind === 'PUT bucket')).to.have.lengthOf(5)
  })

  it('get the requests for the next parts, and continue with those that are missing', async () => {
    const paged = await start({ wrapStorage: wrapBuckets(oneByOne) })
    const { files, kinds } = watched(paged)
    const progress: number[] = []
    const options = {
      direct: true,
      onProgress: ({ sentBytes }: UploadProgress) => void progress.push(sentBytes),
    }
    const record = await files.upload(BYTES, options)
    const next = ['GET direct', 'PUT bucket']
    expect(kinds).to.deep.equal(['POST direct', 'PUT bucket', ...next, ...next, 'POST direct'])
    expect(await files.get(record)).to.include({ sha256: sha256(BYTES) })
    expect([progress[0], progress.at(-1)]).to.deep.equal([0, BYTES.length])
    expect(progress).to.deep.equal(progress.toSorted((one, other) => one - other))
    // After an interruption, the received bytes count from the start, and the bucket is known to accept parts.
    const resume = memoryStore()
    const end = new AbortController()
    const file = () => new File([BYTES], 'film.bin', { lastModified: 1_700_000_000_000 })
    const leave = ({ sentBytes }: UploadProgress) => sentBytes >= PART_BYTES && end.abort(new Error('left'))
    await rejection(files.upload(file(), { direct: true, resume, signal: end.signal, onProgress: leave }))
    progress.length = 0
    kinds.length = 0
    await files.upload(file(), { ...options, resume })
    expect(kinds).to.deep.equal([...next, ...next, 'POST direct'])
    expect(progress[0]).to.equal(PART_BYTES)
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

  itLong(
    'are sent to the service when the network breaks each part, although the bucket responds',
    async () => {
      const { now } = performance
      let awayMs = 0
      performance.now = () => now.call(performance) + awayMs
      try {
        const { files, kinds } = watched(service, (kind, times) => {
          if (kind !== 'PUT bucket') return
          if (times === 1) return new Response('', { status: 503 })
          awayMs = times === 4 ? 121_000 : 0
          throw new TypeError('fetch failed')
        })
        const record = await files.upload(BYTES, { direct: true })
        expect(await files.get(record)).to.include({ sha256: sha256(BYTES) })
        const puts = kinds.filter((kind) => kind === 'PUT bucket')
        expect(kinds.slice(0, 7)).to.deep.equal(['POST direct', ...puts, 'DELETE direct', 'POST tus'])
      } finally {
        performance.now = now
      }
    },
  )

  itLong('wait for the rate limit when all bytes have arrived', async () => {
    const problem = JSON.stringify({ code: 'rate_limited', status: 429, detail: 'Too many requests.' })
    const limited = (kind: string, times: number) => {
      if (kind === 'POST direct' && times === 2)
        return new Response(problem, { status: 429, headers: { 'Retry-After': '4' } })
    }
    // The limit of a call is shorter than the wait, as for a limit per hour.
    const { files, kinds } = watched(service, limited, { timeoutMs: 3900 })
    expect(await files.upload(BYTES.subarray(0, 9 * MIB), { direct: true })).to.include({ size: 9 * MIB })
    const puts = ['PUT bucket', 'PUT bucket']
    expect(kinds).to.deep.equal(['POST direct', ...puts, 'POST direct', 'POST direct'])
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
    const record = await files.upload(SOME, { ...FROM_ONE_MIB, direct: true })
    expect(await files.get(record)).to.include({ sha256: sha256(SOME) })
    expect(kinds.slice(0, 2)).to.deep.equal(['POST direct', 'POST tus'])
  })

  it('send the file to the service when the bucket cannot be reached, also by a link', async () => {
    const apart = await start({ env: { S3_DIRECT_ENDPOINT: `http://127.0.0.1:${await freePort()}` } })
    const { files, links, kinds, fetch: watchedFetch } = watched(apart)
    const record = await files.upload(SOME, { ...FROM_ONE_MIB, direct: true })
    expect(await files.get(record)).to.include({ sha256: sha256(SOME) })
    const tries = ['POST direct', 'PUT bucket', 'PUT bucket', 'DELETE direct']
    expect(kinds.slice(0, 5)).to.deep.equal([...tries, 'POST tus'])
    const link = await links.create({ expiresIn: 600 })
    kinds.length = 0
    const uploader = createUploader({ link, fetch: watchedFetch })
    expect(await uploader.upload(SOME, { ...FROM_ONE_MIB, direct: true })).to.include({ size: SOME.length })
    expect(kinds.slice(0, 5)).to.deep.equal([...tries, 'POST upload'])
    expect(await pieces(apart)).to.deep.equal([])
  })

  describe('that are interrupted', () => {
    const file = () => new File([BYTES], 'film.bin', { lastModified: 1_700_000_000_000 })
    /** Ends an upload when its first part has arrived. */
    async function interrupted(of = watched(service), options: UploadOptions = {}) {
      const resume = memoryStore()
      const end = new AbortController()
      const error = await rejection(
        of.files.upload(file(), {
          ...{ direct: true, resume, signal: end.signal, ...options },
          onProgress: ({ sentBytes }) => sentBytes >= PART_BYTES && end.abort(new Error('left')),
        }),
      )
      expect(error).to.include({ message: 'left' })
      expect(await pieces(service)).to.have.lengthOf(1)
      of.kinds.length = 0
      return resume
    }
    /** Other tests count what is left. */
    afterEach(async () => {
      await eventually(async () => expect(await pieces(service)).to.deep.equal([]))
    })

    it('continue with the missing parts, also in another program, and show the progress', async () => {
      const resume = await interrupted()
      const { files, kinds } = watched(service)
      const progress: number[] = []
      const options = {
        direct: true,
        onProgress: ({ sentBytes }: UploadProgress) => progress.push(sentBytes),
      }
      const record = await files.upload(file(), { ...options, resume, tags: ['late'] })
      expect(kinds).to.deep.equal(['GET direct', 'PUT bucket', 'PUT bucket', 'POST direct', 'PATCH files'])
      expect(await files.get(record)).to.deep.include({ sha256: sha256(BYTES), tags: ['late'] })
      expect([progress[0], progress.at(-1)]).to.deep.equal([PART_BYTES, BYTES.length])
      expect(resume.urls.size).to.equal(0)
    })

    itLong(
      'continue although they are not direct by default here, and are deleted with direct: false',
      async () => {
        const { files, kinds } = watched(service)
        const resume = await interrupted()
        await files.upload(file(), { resume })
        expect(kinds[0]).to.equal('GET direct')
        const other = await interrupted()
        kinds.length = 0
        expect(await files.upload(file(), { resume: other, direct: false })).to.include({
          size: BYTES.length,
        })
        expect(kinds.slice(0, 3)).to.deep.equal(['GET direct', 'DELETE direct', 'POST tus'])
      },
    )

    itLong('begin again when the service has deleted them', async () => {
      const resume = await interrupted()
      const [entry] = resume.urls.values()
      const { url } = JSON.parse(entry ?? '')
      await fetch(url, { method: 'DELETE', headers: { Authorization: service.tokens.secretClientToken } })
      const { files, kinds } = watched(service)
      await files.upload(file(), { direct: true, resume })
      expect(kinds.slice(0, 3)).to.deep.equal(['GET direct', 'POST direct', 'PUT bucket'])
      expect(resume.urls.size).to.equal(0)
    })

    itLong('continue as resumable uploads when they have begun so', async () => {
      const end = new AbortController()
      const resume = memoryStore()
      const { files, kinds } = watched(service, (kind, times) => {
        if (kind === 'PATCH tus' && times === 2) end.abort(new Error('left'))
      })
      await rejection(files.upload(file(), { direct: false, resume, signal: end.signal }))
      kinds.length = 0
      await files.upload(file(), { direct: true, resume })
      expect(kinds[0]).to.equal('HEAD tus')
      expect(kinds).not.to.include('PUT bucket')
    })

    itLong('are deleted by discard(), which frees their link', async () => {
      const { links, fetch: watchedFetch, kinds } = watched(service)
      const { url: link } = await links.create({ expiresIn: 600 })
      const uploader = createUploader({ link, fetch: watchedFetch })
      const resume = memoryStore()
      const end = new AbortController()
      const onProgress = ({ sentBytes }: UploadProgress) =>
        sentBytes >= PART_BYTES && end.abort(new Error('left'))
      await rejection(uploader.upload(file(), { direct: true, resume, signal: end.signal, onProgress }))
      expect(await pieces(service)).to.have.lengthOf(1)
      kinds.length = 0
      await uploader.discard(file(), { resume })
      expect(kinds).to.deep.equal(['DELETE direct'])
      expect(resume.urls.size).to.equal(0)
      expect(await uploader.upload(file(), { direct: true, resume })).to.include({ size: BYTES.length })
    })

    itLong('remain when the service cannot be reached either', async () => {
      let isOffline = true
      const offline = watched(service, (kind) => {
        if (isOffline && kind !== 'POST direct') throw new TypeError('fetch failed')
      })
      const resume = memoryStore()
      const error = await rejection(offline.files.upload(file(), { direct: true, resume }))
      expect(error).to.include({ code: 'network' })
      expect(resume.urls.size).to.equal(1)
      isOffline = false
      offline.kinds.length = 0
      await offline.files.upload(file(), { direct: true, resume })
      expect(offline.kinds.slice(0, 2)).to.deep.equal(['GET direct', 'PUT bucket'])
    })

    itLong('are not given up for a lost connection', async () => {
      const resume = await interrupted()
      const { files, kinds } = watched(service, (kind, times) => {
        if (kind === 'PUT bucket' && times === 1) throw new TypeError('fetch failed')
      })
      await files.upload(file(), { direct: true, resume })
      expect(kinds.filter((kind) => kind === 'PUT bucket')).to.have.lengthOf(3)
      expect(kinds).not.to.include('DELETE direct')
    })

    for (const status of sized([403], [400, 403, 404]))
      itLong(`get other URLs when the bucket refuses theirs with ${status}`, async () => {
        const puts: string[] = []
        // More often than an upload without progress is continued.
        const refused: Record<string, number> = { 1: status === 403 ? 0 : 3, 3: 3 }
        const refusing: typeof fetch = async (url, init) => {
          const part = new URL(String(url)).searchParams.get('partNumber') ?? ''
          puts.push(part)
          const left = refused[part] ?? 0
          if (left === 0) return fetch(url, init)
          refused[part] = left - 1
          return new Response('<Code>ExpiredToken</Code>', { status })
        }
        const { url: baseUrl, tokens } = service
        const { files } = createClient({ baseUrl, secret: tokens.secretClientToken, fetch: refusing })
        const record = await files.upload(BYTES, { direct: true })
        expect(await files.get(record)).to.include({ sha256: sha256(BYTES) })
        expect(puts.filter((part) => part === '3')).to.have.lengthOf(4)
        expect(puts.filter((part) => part === '1')).to.have.lengthOf(status === 403 ? 1 : 4)
        // The part in flight was not aborted.
        expect(puts.filter((part) => part === '2')).to.have.lengthOf(1)
      })

    itLong('are sent to the service when the bucket refuses all URLs', async () => {
      const { files, kinds } = watched(service, (kind) => {
        if (kind === 'PUT bucket') return new Response('<Code>ExpiredToken</Code>', { status: 400 })
      })
      expect(await files.upload(BYTES, { direct: true })).to.include({ size: BYTES.length })
      expect(kinds.filter((kind) => kind === 'PUT bucket')).to.have.lengthOf(5)
      expect(kinds).to.include.members(['DELETE direct', 'POST tus'])
    })

    it('are not deleted once they are complete, and remain when they may be stored later', async () => {
      const resume = memoryStore()
      let refusal: { status: number; code: string } | undefined
      const { files, kinds } = watched(service, (kind, times) => {
        if (kind !== 'POST direct' || times === 1 || !refusal) return
        return new Response(JSON.stringify({ ...refusal, detail: 'Not now.' }), { status: refusal.status })
      })
      const upload = () => files.upload(file(), { direct: true, resume })
      for (const [status, code] of [
        [503, 'storage_full'],
        [409, 'link_busy'],
        [403, 'upload_forbidden'],
      ] as const) {
        refusal = { status, code }
        expect(await rejection(upload())).to.include(refusal)
        expect([code, resume.urls.size]).to.deep.equal([code, 1])
      }
      const entries = [...resume.urls]
      refusal = { status: 409, code: 'link_used' }
      expect(await rejection(upload())).to.include(refusal)
      expect(resume.urls.size).to.equal(0)
      expect(kinds).not.to.include('DELETE direct')
      refusal = undefined
      for (const [key, url] of entries) await resume.set(key, url)
      expect(await upload()).to.include({ size: BYTES.length })
      expect(kinds.filter((kind) => kind === 'PUT bucket')).to.have.lengthOf(3)
    })

    itLong('are deleted when they fail permanently, and can begin again', async () => {
      const resume = memoryStore()
      const { files, kinds } = watched(service, (kind, times) => {
        if (kind === 'PUT bucket' && times === 2) return new Response('', { status: 411 })
      })
      const error = await rejection(files.upload(file(), { direct: true, resume }))
      expect(error).to.include({ status: 411 })
      expect(kinds.at(-1)).to.equal('DELETE direct')
      expect(resume.urls.size).to.equal(0)
    })

    itLong('are stored once when another program completes them, also with direct: false', async () => {
      const resume = memoryStore()
      const other = watched(service)
      const sources: string[] = []
      const entries: Array<[string, string]> = []
      const { files, kinds } = watched(service, async (kind, times) => {
        if (kind !== 'PUT bucket' || times > 1) return
        const copy = memoryStore()
        for (const [key, url] of resume.urls) await copy.set(key, url)
        sources.push((await other.files.upload(file(), { direct: true, resume: copy })).src)
        entries.push(...resume.urls)
      })
      const record = await files.upload(file(), { direct: true, resume })
      expect([record.src]).to.deep.equal(sources)
      expect(kinds).to.deep.equal(['POST direct', 'PUT bucket', 'GET direct', 'POST direct'])
      for (const [key, url] of entries) await resume.set(key, url)
      other.kinds.length = 0
      const again = await other.files.upload(file(), { direct: false, resume })
      expect([again.src]).to.deep.equal(sources)
      expect(other.kinds).to.deep.equal(['GET direct', 'GET direct', 'POST direct'])
    })
  })

  describe('by default', () => {
    const large = BYTES.subarray(0, 9 * MIB)

    itLong('are what a service with S3_DIRECT_ENDPOINT gets, unless they are turned off', async () => {
      const { endpoint } = (await s3Server()).connection
      const open = await start({ env: { S3_DIRECT_ENDPOINT: endpoint } })
      const { files, links, kinds, fetch: watchedFetch } = watched(open)
      await files.upload(large)
      expect(kinds).to.deep.equal(['POST direct', 'PUT bucket', 'POST direct'])
      await uploadToLink(await links.create({ expiresIn: 600 }), large)
      const uploader = createUploader({ link: () => links.create({ expiresIn: 600 }), fetch: watchedFetch })
      kinds.length = 0
      await uploader.upload(large)
      expect(kinds).to.deep.equal(['POST sign', 'POST direct', 'PUT bucket', 'POST direct'])
      kinds.length = 0
      await files.upload(large, { direct: false })
      await uploader.upload(large, { direct: false })
      expect(kinds.join()).not.to.include('direct')
    })

    itLong('are tried once with a service that does not offer them', async () => {
      for (const backend of [S3_EMBEDDED, EMBEDDED]) {
        const closed = await start({ backend })
        const { files, links, kinds, fetch: watchedFetch } = watched(closed)
        for (const _ of [1, 2, 3]) await files.upload(SOME, FROM_ONE_MIB)
        expect(kinds.filter((kind) => kind.endsWith('direct'))).to.deep.equal(['POST direct'])
        kinds.length = 0
        for (const _ of [1, 2, 3]) {
          const link = await links.create({ expiresIn: 600 })
          await createUploader({ link, fetch: watchedFetch }).upload(SOME, FROM_ONE_MIB)
        }
        expect(kinds.filter((kind) => kind.endsWith('direct'))).to.deep.equal(['POST direct'])
        // The refusal was one of uploads that nobody has chosen.
        kinds.length = 0
        await files.upload(SOME, { ...FROM_ONE_MIB, direct: true })
        expect(kinds[0]).to.equal('POST direct')
      }
    })

    itLong('are tried once with a bucket that cannot be reached', async () => {
      const apart = await start({ env: { S3_DIRECT_ENDPOINT: `http://127.0.0.1:${await freePort()}` } })
      const { files, kinds } = watched(apart)
      for (const _ of [1, 2]) await files.upload(SOME, FROM_ONE_MIB)
      const tries = ['POST direct', 'PUT bucket', 'PUT bucket', 'DELETE direct']
      expect(kinds.slice(0, 5)).to.deep.equal([...tries, 'POST tus'])
      expect(kinds.slice(5)).not.to.include('POST direct')
    })
  })

  describe('in Chromium, in a page of another origin', () => {
    let tab: Page
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
      ;[tab] = await Promise.all([startPage(), once(page, 'listening')])
    })
    after(async () => {
      await tab.context().close()
      page.close()
    })

    const upload = async () => {
      const { links } = watched(service)
      const { url } = await links.create({ expiresIn: 600, folder: 'page' })
      await tab.goto(`http://127.0.0.1:${(page.address() as AddressInfo).port}/?${Math.random()}`)
      return tab.evaluate(`(async () => {
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

    itLong(
      'send the file to the service without a CORS rule, and to the bucket with the documented one',
      async () => {
        const common = { size: 17 * MIB, folder: 'page', last: 1 }
        expect(await upload()).to.deep.equal({ ...common, byTus: true, toBucket: false })
        const origin = `http://127.0.0.1:${(page.address() as AddressInfo).port}`
        const remove = await allowOrigin(origin)
        try {
          expect(await upload()).to.deep.equal({ ...common, byTus: false, toBucket: true })
        } finally {
          await remove()
        }
      },
    )
  })
})
