import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import { createClient, type SluiceClient, SluiceError } from '../../client/index.ts'
import { oneForEqual, onOneBackend, onOneOrTwoBackends } from '../support/backends.ts'
import { picture } from '../support/media/images.ts'
import { rejection } from '../support/rejection.ts'
import { type Remote, remote } from '../support/requests/remote.ts'
import { fetchingFrom } from '../support/requests/remote-files.ts'
import type { Service } from '../support/service.ts'
import { noise } from '../support/stored/noise.ts'

const MIB = 1024 * 1024
const clientOf = ({ url, tokens }: Service): SluiceClient =>
  createClient({ baseUrl: `${url}/`, secret: tokens.secretClientToken })
/** All items, in order. */
async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}
const bytesAt = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer())

onOneOrTwoBackends('client.files', (start) => {
  const shared = oneForEqual(start)
  it('uploads, lists, shows, changes and deletes a file', async () => {
    const { files } = clientOf(await shared())
    const png = await picture({ width: 40, height: 30 })
    const record = await files.upload(new File([png], 'käse & co.png'), { folder: 'a/b' })
    expect(record).to.include({ originalName: 'käse & co.png', format: 'png', size: png.length })
    expect(record.s3PathOriginal).to.match(/^a\/b\/image\/png\//)
    expect((await bytesAt(record.src)).equals(png)).to.equal(true)

    const changed = await files.update(record, { tags: ['red'], focalPoint: { x: 0.3, y: 0.4 } })
    expect(changed).to.deep.include({ tags: ['red'], focalPoint: { x: 0.3, y: 0.4 } })
    expect(await files.get(record.s3PathOriginal)).to.deep.equal(changed)
    expect(await all(files.list({ tag: 'red' }))).to.have.lengthOf(1)

    const deleted = await files.delete(record)
    expect(deleted).to.deep.equal({ s3PathOriginal: record.s3PathOriginal, derivatives: 0 })
    const error = await rejection(files.get(record))
    expect(error).to.be.instanceOf(SluiceError).and.include({ status: 404, code: 'file_not_found' })
    expect(error)
      .to.have.property('requestId')
      .that.matches(/^[\w-]{36}$/)
  })

  it('stores and copies a file once when the first response is lost, and states its digest', async () => {
    const service = await start()
    const sent: Array<Record<string, string>> = []
    const { files } = createClient({
      baseUrl: service.url,
      secret: service.tokens.secretClientToken,
      async fetch(url, init) {
        const response = await fetch(url, init)
        const headers = init?.headers as Record<string, string>
        sent.push(headers)
        const isFirst =
          sent.filter((one) => one['Idempotency-Key'] === headers['Idempotency-Key']).length === 1
        if (isFirst && init?.method !== 'GET') throw new TypeError('fetch failed')
        return response
      },
    })
    const record = await files.upload(new Blob(['once']), { name: 'a.txt' })
    await files.upload(new Blob(['once']), { name: 'b.txt', tags: ['form'] })
    const [copy] = await files.copy([{ file: record, to: 'copies' }])
    expect(copy?.status).to.equal('copied')
    expect(await all(files.list())).to.have.lengthOf(3)
    expect(sent[0]?.['Repr-Digest']).to.equal('sha-256=:IAZRqLLVkS9pLbiUaKfUfYaj7WhE9I8bFfK+HZyafl4=:')
  })

  it('uploads a large file in chunks, with tags, info and derivatives', async () => {
    const service = await shared()
    const { files } = clientOf(service)
    const png = await picture({ width: 400, height: 300 })
    const progress: number[] = []
    const record = await files.upload(new Blob([png]), {
      name: 'large.png',
      folder: 'big',
      tags: ['t'],
      metadata: { a: 'b' },
      focalPoint: { x: 0, y: 1 },
      info: true,
      transforms: [{ w: 20, f: 'webp' }, 'w=30'],
      resumableFromBytes: 1000,
      chunkBytes: Math.ceil(png.length / 3),
      onProgress: ({ sentBytes, totalBytes }) => {
        expect(totalBytes).to.equal(png.length)
        progress.push(sentBytes)
      },
    })
    expect(progress).to.have.lengthOf(4).and.include.members([0, png.length])
    expect(progress).to.deep.equal([...progress].sort((a, b) => a - b))
    expect(record.originalName).to.equal('large.png')
    expect(record.options.info).to.include({ width: 400, height: 300 })
    expect(record.options.transforms?.map(({ src, state }) => [src, state])).to.deep.equal([
      [`${record.src}?w=20&f=webp`, 'done'],
      [`${record.src}?w=30`, 'done'],
    ])
    expect(await files.get(record)).to.deep.include({
      tags: ['t'],
      metadata: { a: 'b' },
      focalPoint: { x: 0, y: 1 },
    })
    expect((await bytesAt(record.src)).equals(png)).to.equal(true)
  })

  it('uploads a stream of unknown length in chunks', async () => {
    const { files } = clientOf(await shared())
    for (const size of [3 * MIB, 3 * MIB + 1, 100]) {
      const bytes = noise(size)
      const pieces = [bytes.subarray(0, 50), bytes.subarray(50)]
      const totals: unknown[] = []
      const record = await files.upload(Readable.from(pieces), {
        name: 'stream.bin',
        resumableFromBytes: MIB,
        chunkBytes: MIB,
        onProgress: ({ totalBytes }) => totals.push(totalBytes),
      })
      expect(record).to.include({ originalName: 'stream.bin', size })
      expect((await bytesAt(record.src)).equals(bytes)).to.equal(true)
      expect(totals).to.include(size > MIB ? undefined : size)
    }
  })
})

onOneBackend('client.files', (start) => {
  let service: Service
  let client: SluiceClient
  let other: Remote
  before(async () => {
    other = await remote((_req, res) => void res.end(noise(300)))
    service = await start({ env: fetchingFrom(other) })
    client = clientOf(service)
  })

  after(() => other.close())

  it('uploads bytes, a web stream and a path', async () => {
    const bytes = noise(2000)
    const path = join(service.dataDir, 'local.bin')
    await writeFile(path, bytes)
    const sources = [new Uint8Array(bytes), new Uint8Array(bytes).buffer, new Response(bytes).body, { path }]
    for (const source of sources) {
      if (source === null) throw new Error('no body')
      const record = await client.files.upload(source)
      expect((await bytesAt(record.src)).equals(bytes)).to.equal(true)
    }
    const record = await client.files.upload({ path }, { resumableFromBytes: 10, chunkBytes: 700 })
    expect(record.originalName).to.equal('local.bin')
    expect((await bytesAt(record.src)).equals(bytes)).to.equal(true)
  })

  it('sends tags, metadata, info and transforms with a small file', async () => {
    const png = await picture()
    const record = await client.files.upload(new File([png], 'a.png'), {
      ...{ tags: ['x'], metadata: { k: 'v' }, info: true, transforms: [{ w: 9, greyscale: true }] },
      folder: 'form',
    })
    expect(record.options.info).to.include({ mediaType: 'image/png' })
    expect(record.options.transforms?.[0]?.src).to.equal(`${record.src}?w=9&greyscale=`)
    expect(await client.files.get(record)).to.deep.include({ tags: ['x'], metadata: { k: 'v' } })
  })

  it('uploads a file of another server', async () => {
    const url = other.url('/sound.bin')
    for (const source of [new URL(url), { url }]) {
      const record = await client.files.upload(source, { folder: 'far', tags: ['r'] })
      expect(record).to.include({ originalName: 'sound.bin', size: 300 })
      expect(record.s3PathOriginal).to.match(/^far\//)
    }
  })

  it('lists all pages', async () => {
    for (let i = 0; i < 5; i += 1) await client.files.upload(new Blob([`${i}`]), { folder: 'pages' })
    const listed = client.files.list({ prefix: 'pages', limit: 2, sort: 'key' })
    const keys = (await all(listed)).map(({ s3PathOriginal }) => s3PathOriginal)
    expect(new Set(keys).size).to.equal(5)
    expect(keys).to.deep.equal([...keys].sort())
    const { files, cursor } = await client.files.page({ prefix: 'pages', limit: 2, sort: 'key' })
    expect(files.map((file) => file.s3PathOriginal)).to.deep.equal(keys.slice(0, 2))
    expect(cursor).to.be.a('string')
  })

  it('deletes a folder and some files, and reports each', async () => {
    const uploads = [1, 2, 3].map((i) => client.files.upload(new Blob([`x${i}`]), { folder: 'old' }))
    const [first] = await Promise.all(uploads)
    if (!first) throw new Error('no record')
    const reports = await client.files.deleteMany([first, 'none.txt'])
    expect(reports.map(({ status }) => status)).to.deep.equal(['deleted', 'error'])
    expect(await client.files.deleteMany({ prefix: 'old' })).to.have.lengthOf(2)
    expect(await all(client.files.list({ prefix: 'old' }))).to.deep.equal([])
  })

  it('restores a soft-deleted file', async () => {
    const { client: other, tokens } = await service.app.clients.create()
    await service.app.clients.setRules(other.id, { keepDeletedSeconds: 600 })
    const { files } = createClient({ baseUrl: service.url, secret: () => tokens.secretClientToken })
    const record = await files.upload(new Blob(['soft']))
    expect(await files.delete(record)).to.have.property('deletedUntil')
    expect(await all(files.list({ deleted: true }))).to.have.lengthOf(1)
    expect(await files.restore(record)).to.deep.equal([{ path: record.s3PathOriginal, status: 'restored' }])
    expect(await files.delete(record, { permanently: true })).not.to.have.property('deletedUntil')
  })

  it('streams an archive', async () => {
    const record = await client.files.upload(new File([await picture()], 'z.png'))
    const entry = { file: record, name: 'small.webp', parameters: { w: 5, f: 'webp', pad: [1, 2] } } as const
    const response = await client.files.zip([record, entry], { archiveName: 'both.zip' })
    expect(response.headers.get('Content-Disposition')).to.include('both.zip')
    const text = Buffer.from(await response.arrayBuffer()).toString('latin1')
    expect(text).to.include('z.png').and.include('small.webp').and.not.include('"error"')
  })

  it('refuses a value that is no file', async () => {
    for (const wrong of ['photo.png', 7, undefined, {}, null]) {
      const error = await rejection(client.files.upload(wrong as unknown as Blob))
      expect(error, String(wrong)).to.be.instanceOf(TypeError)
      expect(String(error)).to.include('expected a Blob')
    }
    expect(String(await rejection(client.files.upload({ path: service.dataDir })))).to.include('not a file')
  })
})
