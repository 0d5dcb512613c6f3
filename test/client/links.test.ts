import { once } from 'node:events'
import { createServer, type RequestListener, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { createClient, createUploader, type SluiceClient, uploadToLink } from '../../client/index.ts'
import { oneForEqual, onOneBackend } from '../support/backends.ts'
import { rejection } from '../support/rejection.ts'
import { memoryStore } from '../support/requests/tus.ts'
import type { Service } from '../support/service.ts'
import { noise } from '../support/stored/noise.ts'

const bytesAt = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer())

/** A proxy in front of a service: `before` may end a request itself, and then returns true. */
async function proxy(service: Service, before: (...args: Parameters<RequestListener>) => boolean) {
  const server = createServer((req, res) => {
    if (before(req, res)) return
    const target = new URL(req.url ?? '/', service.url)
    const inner = request(target, { method: req.method, headers: req.headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(res)
    })
    inner.on('error', () => res.destroy())
    req.pipe(inner)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

onOneBackend('uploads by link', (start) => {
  let service: Service
  let client: SluiceClient
  before(async () => {
    service = await start()
    client = createClient({ baseUrl: service.url, secret: service.tokens.secretClientToken })
  })

  it('keep the name of small and large files, without a secret', async () => {
    for (const resumableFromBytes of [1, 10_000]) {
      const link = await client.links.create({ expiresIn: 60, folder: 'avatars', types: ['application/*'] })
      const bytes = noise(3000)
      const file = new File([bytes], 'käse & co?.bin')
      const record = await uploadToLink(link, file, { resumableFromBytes, chunkBytes: 1024 })
      expect(record).to.include({ originalName: 'käse & co?.bin', size: 3000 })
      expect(record.s3PathOriginal).to.match(/^avatars\//)
      expect((await bytesAt(record.src)).equals(bytes)).to.equal(true)
    }
  })

  it('fail with the code of the refusal', async () => {
    const link = await client.links.create({ expiresIn: 60, maxBytes: 10 })
    for (const resumableFromBytes of [1, 10_000]) {
      const error = await rejection(
        uploadToLink(link.url, new Blob(['a'.repeat(100)]), { resumableFromBytes }),
      )
      expect(error).to.include({ name: 'SluiceError', status: 413, code: 'too_large' })
    }
    expect(await rejection(uploadToLink(`${link.url}x`, new Blob(['a'])))).to.include({ status: 403 })
  })

  it('resume after an abort with the stored URL, without another link', async () => {
    let links = 0
    const bytes = noise(5000)
    const file = new File([bytes], 'film.bin', { lastModified: 1_700_000_000_000 })
    const { upload } = createUploader({
      link: () => {
        links += 1
        return client.links.create({ expiresIn: 60 })
      },
    })
    const resume = memoryStore()
    const controller = new AbortController()
    const common = { resume, resumableFromBytes: 1, chunkBytes: 1000 }
    const aborted = upload(file, {
      ...common,
      signal: controller.signal,
      onProgress: ({ sentBytes }) => {
        if (sentBytes >= 2000) controller.abort('page closed')
      },
    })
    expect(await rejection(aborted)).to.equal('page closed')
    expect(resume.urls.size).to.equal(1)

    const progress: number[] = []
    const record = await upload(file, { ...common, onProgress: ({ sentBytes }) => progress.push(sentBytes) })
    expect(progress[0]).to.be.within(2000, 4999)
    expect(links).to.equal(1)
    expect(resume.urls.size).to.equal(0)
    expect((await bytesAt(record.src)).equals(bytes)).to.equal(true)
  })

  it('begin again when the stored upload does not exist any more', async () => {
    const resume = memoryStore()
    resume.get = () => JSON.stringify({ url: `${service.url}/v1/tus/2Pa~first`, isLink: true })
    const link = await client.links.create({ expiresIn: 60 })
    const file = new File([noise(500)], 'a.bin')
    expect(await uploadToLink(link, file, { resume, resumableFromBytes: 1 })).to.include({ size: 500 })
  })
})

onOneBackend('resumable uploads of the client library', (start) => {
  const shared = oneForEqual(start)
  it('continue after lost connections and refusals, also for a stream', async () => {
    const service = await shared()
    let patches = 0
    // Each second PATCH is lost before or after its bytes have arrived, or refused for now.
    const faults: RequestListener[] = [
      (_req, res) => void res.destroy(),
      (req, res) => {
        const inner = request(new URL(req.url ?? '/', service.url), { method: 'PATCH', headers: req.headers })
        inner.on('response', () => res.destroy())
        req.pipe(inner)
      },
      (_req, res) => void res.writeHead(503, { 'Retry-After': '0' }).end(),
      (_req, res) => void res.writeHead(502).end('<h1>Bad Gateway</h1>'),
    ]
    const { url, close } = await proxy(service, (req, res) => {
      if (req.method !== 'PATCH') return false
      patches += 1
      const fault = patches % 2 === 1 ? faults[(patches - 1) / 2] : undefined
      fault?.(req, res)
      return fault !== undefined
    })
    try {
      const { files } = createClient({ baseUrl: url, secret: service.tokens.secretClientToken })
      const bytes = noise(4500)
      const pieces = new Blob([bytes]).stream()
      const record = await files.upload(pieces, { resumableFromBytes: 1, chunkBytes: 1000 })
      expect((await bytesAt(record.src)).equals(bytes)).to.equal(true)
      expect(patches).to.equal(8)
    } finally {
      close()
    }
  })

  it('send the secret to no other address than baseUrl', async () => {
    // BASE_URL of the service is its own address, which the proxy hides.
    const service = await shared()
    const seen: string[] = []
    const { url, close } = await proxy(service, (req) => {
      seen.push(req.method ?? '')
      return false
    })
    try {
      const { files } = createClient({ baseUrl: url, secret: service.tokens.secretClientToken })
      await files.upload(new Blob([noise(300)]), { resumableFromBytes: 1 })
      // The first one is refused: this service has no bucket for direct uploads.
      expect(seen).to.deep.equal(['POST', 'POST', 'HEAD', 'PATCH'])
    } finally {
      close()
    }
  })
})
