import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { EMBEDDED } from '../../support/backend.ts'
import { stoppedAtTheEnd } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { startVarnishWithTags } from '../../support/peers/varnish-xkey.ts'
import { deleteFile, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { freePort } from '../../support/servers/free-port.ts'
import { PROJECT, type Service, startService } from '../../support/service.ts'
import { askAlias, setAlias } from '../../support/stored/aliases.ts'

describe('Varnish as docs/how-to/cdn.md configures it', () => {
  const start = stoppedAtTheEnd(startService)
  let service: Service
  let varnish: Awaited<ReturnType<typeof startVarnishWithTags>>
  before(async () => {
    const port = await freePort()
    service = await start({
      backend: EMBEDDED,
      env: {
        CDN_TAGS: 'xkey',
        CDN_CACHE_SECONDS: '31536000',
        CDN_PURGE: 'url',
        CDN_PURGE_URL: `http://127.0.0.1:${port}/`,
        CDN_PURGE_HEADERS: 'xkey-purge: {tags}',
        CDN_PURGE_ALLOW_ADDRESSES: '127.0.0.1/32',
      },
    })
    const page = await readFile(join(PROJECT, 'docs', 'how-to', 'cdn.md'), 'utf8')
    const configuration = /```vcl\n([\s\S]*?)```/.exec(page)?.[1] ?? ''
    varnish = await startVarnishWithTags(service, { configuration, port })
  })
  after(() => varnish.stop())

  /** Status and source of the response of Varnish. */
  async function get(path: string): Promise<string> {
    const { status, headers } = await exchange(varnish, path)
    expect(headers).to.not.have.property('xkey')
    return `${status} ${headers['x-cache']}`
  }

  /** Uploads a file, and has Varnish store all its responses. @returns their paths */
  async function cached(path: string): Promise<{ file: WireRecord; paths: string[] }> {
    const file = await uploadOne(service, { name: 'a.png', bytes: await picture() }, { path })
    const url = file.src.slice(service.url.length)
    const paths = [url, `${url}?w=20&f=png`, `${url}?w=30&f=webp`, url.replace('/upload/', '/info/')]
    for (const each of paths)
      for (const from of ['MISS', 'HIT']) expect(await get(each)).to.equal(`200 ${from}`)
    return { file, paths }
  }

  const expectAll = (paths: readonly string[], expected: string) =>
    eventually(async () => {
      for (const path of paths) expect(await get(path), path).to.equal(expected)
    })

  it('is purged of a deleted file and all its derivatives, and of no other file', async () => {
    const [deleted, other] = [await cached('a'), await cached('a')]
    await deleteFile(service, deleted.file.s3PathOriginal)
    await expectAll(deleted.paths, '404 MISS')
    await expectAll(other.paths, '200 HIT')
  })

  it('is purged of a file in the trash', async () => {
    const { file, paths } = await cached('b')
    await service.app.clients.setRules('first', { keepDeletedSeconds: 60 })
    await deleteFile(service, file.s3PathOriginal)
    await expectAll(paths, '404 MISS')
  })

  it('is purged of an alias that is set to another file and then deleted, and not of the files', async () => {
    const [former, current] = [await cached('f'), await cached('f')]
    const name = 'f/alias.png'
    const path = (await setAlias(service, name, former.file.s3PathOriginal)).src.slice(service.url.length)
    for (const from of ['MISS', 'HIT']) expect(await get(path)).to.equal(`200 ${from}`)
    await setAlias(service, name, current.file.s3PathOriginal)
    await eventually(async () => {
      const { headers } = await exchange(varnish, path)
      expect(headers.etag).to.equal(`"${current.file.s3PathOriginal}"`)
    })
    await askAlias(service, name, { method: 'DELETE' })
    await expectAll([path], '404 MISS')
    await expectAll([...former.paths, ...current.paths], '200 HIT')
  })

  it('is purged of a folder that becomes private, and then of all files when they become private', async () => {
    const [inside, outside] = [await cached('c/d'), await cached('e')]
    await service.app.clients.addUrlKey('first')
    await service.app.clients.setRules('first', { privateFolders: ['C'] })
    await expectAll(inside.paths, '403 MISS')
    await expectAll(outside.paths, '200 HIT')
    await service.app.clients.setRules('first', { signedUrls: true })
    await expectAll(outside.paths, '403 MISS')
  })
})
