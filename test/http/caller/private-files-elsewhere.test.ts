import { createHmac } from 'node:crypto'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import { FIRST_CLIENT_ID } from '../../../src/core/clients/client.ts'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { onOneBackend } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { type Remote, remote } from '../../support/requests/remote.ts'
import { fetchingFrom, fetchPath } from '../../support/requests/remote-files.ts'
import type { Service } from '../../support/service.ts'
import { setAlias } from '../../support/stored/aliases.ts'

onOneBackend('private files by other names', (start) => {
  let service: Service
  let other: Remote
  let key: { version: number; key: string }
  let secretFile: WireRecord
  before(async () => {
    const png = await picture({ width: 80, height: 40 })
    other = await remote((_, res) => res.setHeader('Content-Type', 'image/png').end(png))
    service = await start({
      env: { COMPAT: 'openinary', FOREIGN_PREFIXES: 'legacy', ...fetchingFrom(other) },
    })
    const { clients } = service.app
    key = (await clients.addUrlKey('first')).urlKey
    await clients.setRules('first', { privateFolders: ['private'], fetchHosts: ['127.0.0.1'] })
    secretFile = await uploadOne(service, { name: 'a.png', bytes: png }, { path: 'private' })
    const publicFile = await uploadOne(service, { name: 'b.png', bytes: png })
    await setAlias(service, 'logo', secretFile.s3PathOriginal)
    await setAlias(service, 'private/logo', publicFile.s3PathOriginal)
    await setAlias(service, 'open', publicFile.s3PathOriginal)
  })
  after(() => other.close())

  const sign = (target: string) => {
    const signature = createHmac('sha256', key.key).update(target).digest('base64url')
    return `${target}${target.includes('?') ? '&' : '?'}s=${key.version}.${signature}`
  }
  async function outcome(target: string): Promise<string> {
    const response = await exchange(service, target)
    return response.status === 200 ? '200' : `${response.status} ${jsonOf(response).code}`
  }
  const alias = (name: string) => `/v1/image/alias/${service.tokens.clientToken}/${name}`
  const compat = (name: string) => `/compat/openinary/${service.tokens.clientToken}/t/${name}`

  it('need a signed URL by an alias of the file, and by an alias in the folder', async () => {
    for (const name of ['logo', 'private/logo']) {
      for (const target of [alias(name), `${alias(name)}?w=20`]) {
        expect(await outcome(target), target).to.equal('403 url_unsigned')
        expect(await outcome(sign(target)), target).to.equal('200')
      }
    }
    expect(await outcome(alias('open'))).to.equal('200')
  })

  it('need a signature by URLs of other services', async () => {
    for (const name of [
      'logo',
      'private/logo',
      `private/${secretFile.sourceName}`,
      secretFile.s3PathOriginal,
    ])
      expect(await outcome(compat(name)), name).to.equal('403 url_unsigned')
    expect(await outcome(compat('open'))).to.equal('200')
  })

  it('are no watermark of a remote image, unless the URL is signed', async () => {
    const query = `?wm=${encodeURIComponent(secretFile.s3PathOriginal)}`
    const target = fetchPath(service, other.url('/a.png'), { query })
    expect(await outcome(target)).to.equal('404 asset_not_found')
    expect(await outcome(sign(target))).to.equal('200')
    const results = await Promise.all([sign(target), target].map(outcome))
    expect(results, 'at the same time').to.deep.equal(['200', '404 asset_not_found'])
  })

  it('are no watermark of an object of another system, unless the URL is signed', async () => {
    const bucket = service.storage.buckets.of({ id: FIRST_CLIENT_ID, token: '' })
    const png = await picture({ width: 80, height: 40 })
    await bucket.put(storedKey('legacy/a.png'), Readable.from([png]), { mediaType: 'image/png' })
    const path = `/v1/image/foreign/${service.tokens.clientToken}/legacy/a.png`
    const target = `${path}?wm=${encodeURIComponent(secretFile.s3PathOriginal)}`
    expect(await outcome(target)).to.equal('404 asset_not_found')
    expect(await outcome(sign(target))).to.equal('200')
    expect(await outcome(target), 'after it was stored').to.equal('404 asset_not_found')
  })
})
