import { createHmac } from 'node:crypto'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { onOneOrTwoBackends } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { picture } from '../../support/media/images.ts'
import { type Caller, deleteFile, newClient, rawPath, uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { copiedOrMoved, copyOrMove } from '../../support/stored/moves.ts'

onOneOrTwoBackends('redirects of moved files', (start, backend, itOnce) => {
  let service: Service
  let client: Caller & { id: string }
  let png: Buffer
  before(async () => {
    service = await start()
    png = await picture()
  })
  beforeEach(async () => {
    client = await newClient(service)
  })

  const upload = (path = 'a') => uploadOne(client, { name: 'a.png', bytes: png }, { path })
  const move = (from: string, to: string, redirect?: string) =>
    copiedOrMoved(client, 'move', { from, to, ...(redirect === undefined ? {} : { redirect }) })
  const get = (url: string, method = 'GET') => exchange(service, url, { method })
  const statusOf = async (url: string) => (await get(url)).status
  const redirectKey = (key: string) => storedKey(`.sluice/redirects/${key}.json`)
  const bucketOf = () => service.storage.buckets.of({ id: client.id, token: client.tokens.clientToken })

  itOnce('lead every delivery URL to the same URL of the new path, with its parameters', async () => {
    const source = await upload('a b')
    const moved = await move(source.s3PathOriginal, 'ü/c', '7d')
    const [before, now] = [source.src, moved.src]
    const [raw, rawNow] = [source, moved].map(
      (file) => `${service.url}${rawPath(client, file.s3PathOriginal)}`,
    )
    const [full, fullNow] = [raw, rawNow].map((url) => String(url).replace('/bucket/', '/image/upload/'))
    const urls: Record<string, string> = {
      [before]: now,
      [`${before}?w=10&f=webp`]: `${now}?w=10&f=webp`,
      [`${before}?text=a%20b%26c&utm_source=x`]: `${now}?text=a%20b%26c&utm_source=x`,
      [`${before}?download=a'b.png`]: `${now}?download=a'b.png`,
      [String(raw)]: String(rawNow),
      [String(full)]: String(fullNow),
      [`${full}_w=10`]: `${fullNow}_w%3D10`,
      [before.replace('/upload/', '/info/')]: now.replace('/upload/', '/info/'),
    }
    for (const [from, to] of Object.entries(urls)) {
      for (const method of ['GET', 'HEAD']) {
        const { status, headers } = await get(from, method)
        expect([status, headers.location], from).to.deep.equal([308, to])
        expect(headers['cache-control']).to.equal('public, max-age=3600')
        expect(headers['access-control-allow-origin']).to.equal('*')
      }
    }
    const followed = await fetch(`${before}?w=10`)
    expect([followed.status, followed.headers.get('content-type')]).to.deep.equal([200, 'image/png'])
    await followed.arrayBuffer()
  })

  itOnce('stay on the host of the service, whatever the folder and the spelling of the URL', async () => {
    const source = await upload()
    const path = new URL(source.src).pathname
    let from = source.s3PathOriginal
    for (const folder of ['.evil.example', '0', '@evil.example', ' x']) {
      from = (await move(from, folder, '1d')).s3PathOriginal
      for (const target of [
        path,
        path.replace('/image/', '/%69mage/'),
        path.replace('/image/upload/', '/%69mage/info/'),
        path.replace('/pub_', '/%70ub_'),
      ]) {
        const { status, headers } = await get(target)
        expect(status, target).to.equal(308)
        expect(new URL(String(headers.location)).origin, `${folder}: ${target}`).to.equal(service.url)
        expect(await statusOf(String(headers.location))).to.equal(200)
      }
    }
  })

  itOnce('do not reveal the path in a private folder without a signature', async () => {
    const { urlKey } = await service.app.clients.addUrlKey(client.id)
    const source = await upload()
    await service.app.clients.setRules(client.id, { privateFolders: ['private'] })
    await move(source.s3PathOriginal, 'private/jane.doe', '1d')
    const path = new URL(source.src).pathname
    const targets = [path, path.replace('/upload/', '/info/'), rawPath(client, source.s3PathOriginal)]
    for (const target of targets) {
      const refused = await get(target)
      expect({ status: refused.status, code: jsonOf(refused).code }, target).to.deep.equal({
        status: 403,
        code: 'url_unsigned',
      })
      expect(refused.headers).not.to.have.property('location')
      const signature = createHmac('sha256', urlKey.key).update(target).digest('base64url')
      const signed = await get(`${target}?s=${urlKey.version}.${signature}`)
      expect(signed.status, target).to.equal(308)
      expect(await statusOf(String(signed.headers.location))).to.equal(200)
    }
  })

  it('exist only when they are requested, for the files of their client', async () => {
    const source = await upload()
    await move(source.s3PathOriginal, 'b')
    expect(await statusOf(source.src)).to.equal(404)
    const other = await newClient(service)
    const [second, same] = [await upload(), await upload()]
    await move(second.s3PathOriginal, 'b', '1d')
    expect(await statusOf(second.src)).to.equal(308)
    expect(await statusOf(second.src.replace(client.tokens.clientToken, other.tokens.clientToken))).to.equal(
      404,
    )
    expect(await statusOf(second.src.replace('/image/', '/video/'))).to.equal(404)
    expect(await statusOf(same.src)).to.equal(200)
  })

  it('lead over several moves at once to the last path, until the first of them expires', async () => {
    const source = await upload()
    const second = await move(source.s3PathOriginal, 'b', '7d')
    const third = await move(second.s3PathOriginal, 'c', '1h')
    for (const { src } of [source, second]) {
      const { headers } = await get(src)
      expect(headers.location).to.equal(third.src)
    }
    await deleteFile(client, third.s3PathOriginal)
    for (const { src } of [source, second]) expect(await statusOf(src)).to.equal(404)
  })

  it('end at their time, and a sweep deletes them', async () => {
    const [one, two] = [await upload(), await upload()]
    const { redirectUntil = '' } = await move(one.s3PathOriginal, 'b', '90m')
    expect(Date.parse(redirectUntil)).to.be.within(Date.now() + 80 * 60_000, Date.now() + 90 * 60_000)
    const { s3PathOriginal: to } = await move(two.s3PathOriginal, 'b', '1d')
    const put = (json: string) =>
      bucketOf().put(redirectKey(two.s3PathOriginal), Readable.from([json]), {
        mediaType: 'application/json',
      })
    for (const json of [JSON.stringify({ to, until: Date.now() - 1 }), '{"to":', '[]']) {
      await put(json)
      expect(await statusOf(two.src)).to.equal(404)
      await command(service, 'sweep')
      expect(await bucketOf().find(redirectKey(two.s3PathOriginal)), json).to.equal(undefined)
    }
    expect(await statusOf(one.src)).to.equal(308)
    await put(JSON.stringify({ to, until: Date.now() + 100_000 }))
    const { headers } = await get(two.src)
    expect(Number(/^public, max-age=(\d+)$/.exec(String(headers['cache-control']))?.[1])).to.be.within(1, 100)
  })

  itOnce('are refused with an invalid duration', async () => {
    const { s3PathOriginal: from } = await upload()
    for (const redirect of ['0s', '7', '366d', 'a day', ''])
      try {
        await copyOrMove(client, 'move', [{ from, to: 'b', redirect }])
        throw new Error(`${redirect} was accepted`)
      } catch (error) {
        expect(String(error)).to.match(/refused: 400 .*bad_parameter/)
      }
  })

  itOnce('of signed URLs are signed with the same key and expiry', async () => {
    const { urlKey } = await service.app.clients.addUrlKey(client.id)
    await service.app.clients.setRules(client.id, { signedUrls: true })
    const sign = (target: string) => {
      const signature = createHmac('sha256', urlKey.key).update(target).digest('base64url')
      return `${target}${target.includes('?') ? '&' : '?'}s=${urlKey.version}.${signature}`
    }
    const source = await upload()
    const moved = await move(source.s3PathOriginal, 'b', '1d')
    const [path, now] = [source.src, moved.src].map((src) => new URL(src).pathname)
    const exp = Math.floor(Date.now() / 1000) + 600
    for (const query of ['', `?exp=${exp}`, '?w=10&h=10', `?w=10&exp=${exp}`]) {
      const { status, headers } = await get(`${sign(`${path}${query}`)}&utm_source=a`)
      expect(status, query).to.equal(308)
      expect(headers.location).to.equal(`${service.url}${sign(`${now}${query}`)}`)
      expect(headers['cache-control']).to.match(/^private, max-age=\d+$/)
      expect(await statusOf(String(headers.location))).to.equal(200)
    }
    const raw = rawPath(client, source.s3PathOriginal)
    const { headers } = await get(sign(raw))
    expect(await statusOf(String(headers.location))).to.equal(200)
    expect(await statusOf(`${path}`)).to.equal(403)
    expect(await statusOf(`${path}?s=1.${'A'.repeat(43)}`)).to.equal(403)
    expect(await statusOf(sign(`${path}?exp=${exp - 1000}`))).to.equal(403)
  })

  it('outlive a loss of the index, are no finding, and are deleted with their client', async () => {
    const source = await upload()
    await move(source.s3PathOriginal, 'b', '1d')
    expect((await command(service, 'check', { clientId: client.id })).findings).to.deep.equal([])
    const { dataDir } = service
    await service.stop({ keepData: true })
    await backend.emptyIndex(dataDir)
    service = await start({ dataDir })
    const path = new URL(source.src).pathname
    expect(await statusOf(path)).to.equal(308)
    await command(service, 'client remove', { id: client.id, files: true })
    expect((await service.objects()).filter((name) => name.includes(client.id))).to.deep.equal([])
  })
})
