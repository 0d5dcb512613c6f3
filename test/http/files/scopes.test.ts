import { expect } from 'chai'
import type { SecretScope } from '../../../src/core/clients/secret-scope.ts'
import { onOneBackend } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { entriesOf } from '../../support/requests/archive.ts'
import {
  type Caller,
  deleteFile,
  newClient,
  postFiles,
  postZip,
  uploadOne,
} from '../../support/requests/client.ts'
import type { Service } from '../../support/service.ts'

onOneBackend('secrets with a scope', (start) => {
  let service: Service
  let client: Caller & { id: string }
  let png: Buffer
  before(async () => {
    png = await picture()
    service = await start({ env: { ZIP_RATE_LIMIT: '0' } })
    client = await newClient(service)
  })

  const secretFor = async (scope: SecretScope, validMs?: number) =>
    (await service.app.clients.addSecret(client.id, { scope, validMs })).secret
  const upload = async (secret: string, path?: string) => {
    const response = await postFiles(
      client,
      [{ name: 'a.png', bytes: png }],
      path ? { path, secret } : { secret },
    )
    const body = (await response.json()) as [{ s3PathOriginal: string }] & { code?: string }
    return { status: response.status, code: body.code, key: body[0]?.s3PathOriginal ?? '' }
  }
  const entries = async (secret: string, path: string) => {
    const response = await postZip(client, { files: [{ path }] }, { secret })
    if (response.status !== 200) return response.status
    return entriesOf(Buffer.from(await response.arrayBuffer())).map(({ name }) => name)
  }

  it('with only: upload can only upload', async () => {
    const secret = await secretFor({ only: 'upload' })
    const { status, key } = await upload(secret)
    expect(status).to.equal(200)
    for (const response of [
      await deleteFile(client, key, { secret }),
      await postZip(client, { files: [{ path: key }] }, { secret }),
    ]) {
      expect(response.status).to.equal(403)
      expect(await response.json()).to.include({
        code: 'out_of_scope',
        detail: 'This secret is valid only for uploads.',
      })
    }
    expect((await deleteFile(client, key)).status).to.equal(200)
  })

  it('with only: read can only read', async () => {
    const secret = await secretFor({ only: 'read' })
    const { s3PathOriginal: key } = await uploadOne(client, { name: 'a.png', bytes: png })
    expect(await entries(secret, key)).to.deep.equal([key, '_manifest.json'])
    expect(await upload(secret)).to.include({ status: 403, code: 'out_of_scope' })
    expect((await deleteFile(client, key, { secret })).status).to.equal(403)
  })

  it('with a folder upload there, and cannot see files outside', async () => {
    const secret = await secretFor({ folder: 'team/a' })
    expect(await upload(secret)).to.satisfy(({ key }: { key: string }) => key.startsWith('team/a/image/png/'))
    const inner = await upload(secret, 'team/a/b')
    expect(inner.status).to.equal(200)
    for (const path of ['team', 'team/ab', 'other', 'team/b', 'Team/a'])
      expect(await upload(secret, path), path).to.include({ status: 403, code: 'out_of_scope' })
    expect((await upload(secret, 'team/a/..')).status).to.be.within(400, 403)

    for (const path of ['team/b', 'team/ab', undefined]) {
      const outside = await uploadOne(client, { name: 'a.png', bytes: png }, path ? { path } : {})
      const short = [path, outside.sourceName].filter(Boolean).join('/')
      for (const named of [outside.s3PathOriginal, short]) {
        expect((await deleteFile(client, named, { secret })).status, named).to.equal(404)
        expect(await entries(secret, named)).to.deep.equal(['_manifest.json'])
      }
    }
    expect(await entries(secret, inner.key)).to.deep.equal([inner.key, '_manifest.json'])
    expect((await deleteFile(client, inner.key, { secret })).status).to.equal(200)
  })

  it('with a folder cannot use an image of another folder as a watermark', async () => {
    const { s3PathOriginal: outside } = await uploadOne(
      client,
      { name: 'a.png', bytes: png },
      { path: 'private' },
    )
    const inside = await uploadOne(client, { name: 'a.png', bytes: png }, { path: 'team/a' })
    const secret = await secretFor({ folder: 'team/a' })
    const zipped = async (wm: string) => {
      const item = { path: inside.s3PathOriginal, params: { wm, w: 20 } }
      const response = await postZip(client, { files: [item] }, { secret })
      const [first, last] = entriesOf(Buffer.from(await response.arrayBuffer()))
      return JSON.parse(String((last ?? first)?.bytes))[0].code
    }
    expect(await zipped(inside.s3PathOriginal)).to.equal(undefined)
    expect(await zipped(outside)).to.equal(404)

    const form = new FormData()
    form.append('transforms', JSON.stringify([`wm=${outside}`]))
    form.append('file', new Blob([png]), 'a.png')
    const headers = { Authorization: secret }
    const eager = await fetch(`${client.url}/v1/upload`, { method: 'POST', headers, body: form })
    expect(eager.status).to.equal(404)

    await service.app.clients.addUrlKey(client.id)
    const signed = async (url: string) => {
      const body = JSON.stringify({ url })
      const json = { ...headers, 'Content-Type': 'application/json' }
      return (await fetch(`${client.url}/v1/sign/url`, { method: 'POST', headers: json, body })).status
    }
    expect(await signed(`${inside.src}?w=20&download=a.png`)).to.equal(200)
    expect(await signed(`${inside.src}?wm=${inside.s3PathOriginal}`)).to.equal(200)
    expect(await signed(`${inside.src}?wm=${outside}`)).to.equal(404)
    expect(await signed(`${inside.src}?wm=${encodeURIComponent(outside)}&w=3`)).to.equal(404)
  })

  it('with a folder that is named like a media group sign nothing in the root', async () => {
    const { s3PathOriginal: key, src } = await uploadOne(client, { name: 'a.png', bytes: png })
    const secret = await secretFor({ folder: 'image/png' })
    const root = src.slice(0, src.indexOf('/v1/'))
    const { clientToken } = client.tokens
    for (const url of [
      `${root}/v1/image/upload/${clientToken}/${key}`,
      `${root}/v1/bucket/${clientToken}/${key}`,
    ]) {
      const headers = { Authorization: secret, 'Content-Type': 'application/json' }
      const answer = await fetch(`${root}/v1/sign/url`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ url }),
      })
      expect(answer.status, url).to.equal(404)
    }
  })

  it('sign nothing that is valid for longer than they are', async () => {
    const { src } = await uploadOne(client, { name: 'a.png', bytes: png })
    await service.app.clients.addUrlKey(client.id)
    const secret = await secretFor({}, 60_000)
    const expiresAt = async (path: string, body: object) => {
      const headers = { Authorization: secret, 'Content-Type': 'application/json' }
      const answer = await fetch(`${client.url}${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
      return Date.parse(((await answer.json()) as { expiresAt: string }).expiresAt) - Date.now()
    }
    for (const [path, body] of [
      ['/v1/sign/url', { url: src }],
      ['/v1/sign/url', { url: src, expiresIn: 3600 }],
      ['/v1/sign', { expiresIn: 3600 }],
      ['/v1/sign/cookie', { folder: 'a', expiresIn: 3600 }],
    ] as const)
      expect(await expiresAt(path, body), path).to.be.within(30_000, 61_000)
    expect(await expiresAt('/v1/sign', { expiresIn: 5 })).to.be.within(0, 6000)
  })

  it('stop working when they expire or are revoked, and survive a rotation', async () => {
    const ended = await secretFor({ only: 'upload' }, 0)
    expect((await upload(ended)).status).to.equal(401)
    const { secret, stored } = await service.app.clients.addSecret(client.id, { scope: { only: 'upload' } })
    const { tokens } = await service.app.clients.rotate(client.id, { keepOldMs: 0 })
    expect((await upload(client.tokens.secretClientToken)).status).to.equal(401)
    client = { ...client, tokens }
    expect((await upload(secret)).status).to.equal(200)
    await service.app.clients.removeSecret(client.id, stored.id ?? '')
    expect((await upload(secret)).status).to.equal(401)
  })

  it('belong to their own client', async () => {
    const other = await newClient(service)
    const { s3PathOriginal } = await uploadOne(other, { name: 'a.png', bytes: png }, { path: 'team/a' })
    const secret = await secretFor({ folder: 'team/a' })
    expect((await deleteFile(other, s3PathOriginal, { secret })).status).to.equal(404)
    expect(await entries(secret, s3PathOriginal)).to.deep.equal(['_manifest.json'])
  })
})
