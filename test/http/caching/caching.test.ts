import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { aliasTag, clientTag, folderTag } from '../../../src/core/caching/cache-tags.ts'
import { FIRST_CLIENT_ID } from '../../../src/core/clients/client.ts'
import { oneForEqual, stoppedAtTheEnd } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { ask } from '../../support/requests/ask.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { type Service, startService } from '../../support/service.ts'
import { noise } from '../../support/stored/noise.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const LIFETIMES = {
  BROWSER_CACHE_SECONDS: '600',
  CDN_CACHE_SECONDS: '86400',
  STALE_WHILE_REVALIDATE_SECONDS: '30',
  STALE_IF_ERROR_SECONDS: '3600',
}
const STALE = 'stale-while-revalidate=30, stale-if-error=3600'

describe('caching', () => {
  const start = stoppedAtTheEnd(startService)
  const shared = oneForEqual(start)

  /** The headers of a response, whatever its status. */
  const headersOf = async (service: Service, url: string, headers: Record<string, string> = {}) =>
    (await exchange(service, url, { headers })).headers

  async function signed(service: Service, url: string, expiresIn?: number): Promise<string> {
    const json = { url, ...(expiresIn === undefined ? {} : { expiresIn }) }
    const { body } = await ask(service, '/v1/sign/url', { method: 'POST', json })
    return (body as { url: string }).url
  }

  describe('lifetimes', () => {
    it('are a week for all caches by default', async () => {
      const service = await shared()
      const { src } = await uploadOne(service, { name: 'a.txt', bytes: Buffer.from('a') })
      expect((await headersOf(service, src))['cache-control']).to.equal('public, max-age=604800')
    })

    it('are those of the environment, for originals, derivatives and information, also from memory and in a 304', async () => {
      const service = await shared(LIFETIMES)
      const { src } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
      const expected = `public, max-age=600, s-maxage=86400, ${STALE}`
      for (const url of [src, `${src}?w=20&f=png`, src.replace('/upload/', '/info/')])
        for (const _ of ['first', 'second', 'third']) {
          const headers = await headersOf(service, url)
          expect(headers['cache-control'], url).to.equal(expected)
          const again = await exchange(service, url, { headers: { 'If-None-Match': headers.etag ?? '' } })
          expect(again.status).to.equal(304)
          expect(again.headers['cache-control']).to.equal(expected)
        }
    })

    it('of a client replace them one by one, and those of a preset replace both', async () => {
      const root = await temporaryFolder()
      await mkdir(join(root, 'config'))
      await writeFile(
        join(root, 'config', 'presets.json'),
        '{"shared":{"w":20,"f":"png","cdnCacheSeconds":0}}',
      )
      const service = await start({ env: LIFETIMES, root })
      const { src } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
      const presets = { card: { w: 20, f: 'png', browserCacheSeconds: 5, staleIfErrorSeconds: 0 } }
      await service.app.clients.setRules(FIRST_CLIENT_ID, { browserCacheSeconds: 0, presets })
      const cacheControl = async (query: string) =>
        (await headersOf(service, `${src}${query}`))['cache-control']
      expect(await cacheControl('')).to.equal(`public, max-age=0, s-maxage=86400, ${STALE}`)
      const plain = (await exchange(service, `${src}?w=20&f=png`)).headers
      for (const _ of ['rendered or stored', 'from memory']) {
        expect(await cacheControl('?preset=card')).to.equal(
          'public, max-age=5, s-maxage=86400, stale-while-revalidate=30',
        )
        expect(await cacheControl('?preset=shared')).to.equal(`public, max-age=0, s-maxage=0, ${STALE}`)
        expect(await cacheControl('?w=20&f=png')).to.equal(`public, max-age=0, s-maxage=86400, ${STALE}`)
      }
      // The settings are no part of the transformation.
      expect((await headersOf(service, `${src}?preset=card`)).etag).to.equal(plain.etag)
      await service.app.clients.setRules(FIRST_CLIENT_ID, { browserCacheSeconds: false })
      expect(await cacheControl('')).to.equal(`public, max-age=600, s-maxage=86400, ${STALE}`)
    })

    it('of a preset must be whole seconds of at most a year', async () => {
      const service = await shared()
      for (const cdnCacheSeconds of [-1, 1.5, 31_536_001, 'day']) {
        const change = service.app.clients.setRules(FIRST_CLIENT_ID, {
          presets: { a: { w: 5, cdnCacheSeconds } },
        })
        const error = await change.then(
          () => undefined,
          ({ message }: Error) => message,
        )
        expect(error, String(cdnCacheSeconds)).to.contain('cdnCacheSeconds')
      }
    })

    for (const [word, header, value] of [
      ['cdn-cache-control', 'cdn-cache-control', `public, max-age=86400, ${STALE}`],
      ['surrogate-control', 'surrogate-control', `max-age=86400, ${STALE}`],
    ] as const)
      it(`of CDNs are in ${header} with CDN_CACHE_HEADER=${word}, but not for signed URLs`, async () => {
        const service = await start({ env: { ...LIFETIMES, CDN_CACHE_HEADER: word } })
        const { src } = await uploadOne(service, { name: 'a.txt', bytes: Buffer.from('a') })
        await service.app.clients.addUrlKey(FIRST_CLIENT_ID)
        const url = await signed(service, src)
        for (const _ of ['first', 'from memory', 'from memory']) {
          const headers = await headersOf(service, src)
          expect(headers['cache-control']).to.equal(`public, max-age=600, ${STALE}`)
          expect(headers[header]).to.equal(value)
          expect(await headersOf(service, url)).to.not.have.property(header)
        }
      })

    it('of signed URLs are private, at most a week, and end with the URL, also from memory', async () => {
      const env = { ...LIFETIMES, BROWSER_CACHE_SECONDS: '31536000' }
      const service = await start({ env })
      const { src } = await uploadOne(service, { name: 'a.txt', bytes: Buffer.from('a') })
      await service.app.clients.addUrlKey(FIRST_CLIENT_ID)
      const [lasting, ending] = [await signed(service, src), await signed(service, src, 100)]
      for (const _ of ['first', 'from memory', 'from memory']) {
        expect((await headersOf(service, lasting))['cache-control']).to.equal('private, max-age=604800')
        expect((await headersOf(service, ending))['cache-control']).to.match(/^private, max-age=(100|\d\d)$/)
      }
    })

    it('of aliases remain short', async () => {
      const service = await shared(LIFETIMES)
      const { src, s3PathOriginal: path } = await uploadOne(service, {
        name: 'a.txt',
        bytes: Buffer.from('a'),
      })
      await ask(service, '/v1/aliases/a', { method: 'PUT', json: { file: path } })
      const alias = src.replace(/\/upload\/([^/]+)\/.*$/, '/alias/$1/a')
      expect((await headersOf(service, alias))['cache-control']).to.equal(
        'public, max-age=60, stale-while-revalidate=60',
      )
    })
  })

  describe('tags', () => {
    it('are absent by default', async () => {
      const service = await shared()
      const { src } = await uploadOne(service, { name: 'a.txt', bytes: Buffer.from('a') })
      expect(await headersOf(service, src)).to.not.have.any.keys(
        'cache-tag',
        'surrogate-key',
        'xkey',
        'cdn-tag',
      )
    })

    it('are on originals, derivatives, information and aliases, also from memory and in a 304', async () => {
      const service = await start({ env: { CDN_TAGS: 'cache-tag,surrogate-key xkey' } })
      const file = await uploadOne(service, { name: 'a.png', bytes: await picture() }, { path: 'p/q r' })
      const { src, s3PathOriginal: path, sourceName } = file
      await ask(service, '/v1/aliases/a', { method: 'PUT', json: { file: path } })
      const alias = src.replace(/\/upload\/([^/]+)\/.*$/, '/alias/$1/a')
      const bucket = src.replace(/\/image\/upload\//, '/bucket/')
      const id = FIRST_CLIENT_ID
      const ofFile = [
        `f-${sourceName.split('.')[0]}`,
        folderTag(id, 'p'),
        folderTag(id, 'p/q r'),
        clientTag(id),
      ]
      for (const url of [src, `${src}?w=20&f=png`, src.replace('/upload/', '/info/'), alias, bucket])
        for (const _ of ['first', 'second', 'third']) {
          const { headers } = await exchange(service, url)
          const again = await exchange(service, url, { headers: { 'If-None-Match': headers.etag ?? '' } })
          expect(again.status).to.equal(304)
          const tags = url === alias ? [aliasTag(id, 'a'), ...ofFile] : ofFile
          for (const each of [headers, again.headers]) {
            expect(each['cache-tag'], url).to.equal(tags.join(','))
            expect(each['surrogate-key'], url).to.equal(tags.join(' '))
            expect(each.xkey, url).to.equal(tags.join(' '))
          }
        }
    })

    it('are in responses whose bytes nginx sends', async () => {
      const service = await start({ env: { CDN_TAGS: 'cache-tag', ACCEL_REDIRECT: '/files/' } })
      const { src } = await uploadOne(service, { name: 'a.bin', bytes: noise(50_000) })
      for (const _ of ['first', 'from memory']) {
        const headers = await headersOf(service, src, { 'X-Sendfile-Type': 'X-Accel-Redirect' })
        expect(headers).to.have.property('x-accel-redirect')
        expect(headers['cache-tag']).to.match(/^f-/)
      }
    })

    it('are absent from errors, which are not cached', async () => {
      const service = await start({ env: { CDN_TAGS: 'cache-tag', ...LIFETIMES } })
      const { src } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
      for (const url of [`${src}?w=x`, src.replace(/[^/]+$/, '1111111111111111111111.png')]) {
        const headers = await headersOf(service, url)
        expect(headers['cache-control']).to.equal('no-store')
        expect(headers).to.not.have.property('cache-tag')
      }
    })
  })

  for (const word of ['cdn-cache-control', 'surrogate-control'])
    it(`sends no ${word} and no tags with an error after the headers of a file were set`, async () => {
      const root = await temporaryFolder()
      const env = { ...LIFETIMES, CDN_CACHE_HEADER: word, CDN_TAGS: 'cache-tag,cdn-tag,edge-cache-tag,xkey' }
      const service = await start({ env: { ...env, HOT_CACHE_BYTES: '0' }, root })
      const file = await uploadOne(service, { name: 'a.bin', bytes: noise(50_000) })
      const failing = async (headers: Record<string, string>) => exchange(service, file.src, { headers })
      const responses = [await failing({ 'If-Match': '"x"' }), await failing({ Range: 'bytes=900000-' })]
      expect((await failing({})).headers).to.include.keys(word, 'cache-tag')
      await rm(join(service.dataDir, 'bucket', FIRST_CLIENT_ID, file.s3PathOriginal))
      responses.push(await failing({}))
      expect(responses.map(({ status }) => status)).to.deep.equal([412, 416, 404])
      for (const { headers } of responses) {
        expect(headers['cache-control']).to.equal('no-store')
        expect(headers).to.not.have.any.keys(word, 'cache-tag', 'cdn-tag', 'edge-cache-tag', 'xkey')
      }
    })
})
