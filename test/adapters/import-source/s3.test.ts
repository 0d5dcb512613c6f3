import { text } from 'node:stream/consumers'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { expect } from 'chai'
import { importSources } from '../../../src/adapters/import-source/open.ts'
import type { ImportItem, RefusedItem } from '../../../src/core/imports/source.ts'
import { rejection } from '../../support/rejection.ts'
import { type S3Server, s3Server } from '../../support/servers/s3-server.ts'

const { signal } = new AbortController()

describe('a bucket of S3 as the source of an import', () => {
  let server: S3Server
  let bucket: string
  before(async () => {
    server = await s3Server()
    bucket = await server.newBucket()
    for (const Key of ['shop/a b+ü.txt', 'shop/chairs/oak.txt', 'shop/.hidden/x.txt', 'shop/', 'other.txt'])
      await put(Key, `bytes of ${Key}`)
  })

  const put = (Key: string, Body: string) =>
    server.client.send(new PutObjectCommand({ Bucket: bucket, Key, Body }))

  async function items(prefix: string, secretAccessKey = server.connection.credentials.secretAccessKey) {
    const { endpoint, credentials } = server.connection
    const source = await importSources({ dataDir: '/nowhere' })({
      s3: { bucket, prefix, endpoint, credentials: { ...credentials, secretAccessKey } },
    })
    const found: Array<ImportItem | RefusedItem> = []
    for await (const item of source.items(signal)) found.push(item)
    return found as ImportItem[]
  }

  it('lists its objects with folders below the prefix, without hidden ones, and reads them', async () => {
    const found = await items('shop/')
    expect(found.map(({ from, name, folder, size }) => ({ from, name, folder, size }))).to.deep.equal([
      { from: `s3://${bucket}/shop/a b+ü.txt`, name: 'a b+ü.txt', folder: '', size: 24 },
      { from: `s3://${bucket}/shop/chairs/oak.txt`, name: 'oak.txt', folder: 'chairs', size: 28 },
    ])
    const [first] = found
    if (!first || !('open' in first.content)) throw new Error('no content')
    expect(await text(await first.content.open(signal))).to.equal('bytes of shop/a b+ü.txt')
    expect((await items('shop/ch')).map(({ folder }) => folder)).to.deep.equal(['chairs'])
    expect(await items('')).to.have.length(3)
  })

  it('refuses what the service has stored in its own bucket, and no other object there', async () => {
    const id = '1'.repeat(22)
    const stored = [
      `own/a/image/png/${id}.png`,
      `own/a/image/png/${id}.png_w=30`,
      `own/.sluice/roots/shop/text/txt/${id}.txt`,
      'own/.sluice/clients/first.json',
    ]
    const foreign = ['own/a/old.png', `other/image/png/${id}.png`, `own/a/${id}.png`]
    for (const name of [...stored, ...foreign]) await put(name, name)
    const { endpoint, credentials } = server.connection
    const imported = async (prefix: string, own: { bucket: string; endpoint: string }) => {
      const ownBucket = { ...own, prefix: '/own', region: 'us-east-1', forcePathStyle: false }
      const source = await importSources({ dataDir: '/nowhere', ownBucket })({
        s3: { bucket, prefix, endpoint, credentials },
      })
      const found: Array<ImportItem | RefusedItem> = []
      for await (const item of source.items(signal)) found.push(item)
      const names = (isOwn: boolean) =>
        found
          .filter((item) => 'refused' in item === isOwn)
          .map(({ from }) => from.slice(`s3://${bucket}/`.length))
      return { refused: names(true), accepted: names(false) }
    }
    const own = { bucket, endpoint: `${endpoint}/` }
    const [original, derivative, ofOther, record] = stored
    expect(await imported('own/a/', own)).to.deep.equal({
      refused: [original, derivative],
      accepted: ['own/a/1111111111111111111111.png', 'own/a/old.png'],
    })
    expect(await imported('other/', own)).to.deep.equal({ refused: [], accepted: [foreign[1]] })
    expect(await imported('own/.sluice/roots/shop/', own)).to.deep.equal({ refused: [ofOther], accepted: [] })
    expect(await imported('own/.sluice/clients/', own)).to.deep.equal({ refused: [record], accepted: [] })
    for (const another of [
      { bucket: `${bucket}-2`, endpoint },
      { bucket, endpoint: 'http://127.0.0.1:1' },
    ])
      expect((await imported('own/a/', another)).refused).to.deep.equal([])
  })

  it('identifies an object by its name and version', async () => {
    const identity = async () => (await items('other')).map((item) => item.identity).join()
    const before = await identity()
    expect(await identity()).to.equal(before)
    await put('other.txt', 'other bytes of other.txt')
    expect(await identity()).to.not.equal(before)
  })

  it('refuses an object that was replaced after it was listed', async () => {
    await put('replaced.txt', 'the first bytes')
    const [item] = await items('replaced')
    await put('replaced.txt', 'other bytes')
    if (!item || !('open' in item.content)) throw new Error('no content')
    expect(String(await rejection(item.content.open(signal)))).to.include('The file was replaced')
  })

  it('reports wrong credentials', async () => {
    expect(await rejection(items('', 'wrong'))).to.include({ code: 'unavailable' })
  })
})
