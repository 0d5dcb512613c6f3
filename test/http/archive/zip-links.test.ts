import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { FIRST_CLIENT_ID } from '../../../src/core/clients/client.ts'
import { onOneOrTwoBackends } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { downloader } from '../../support/peers/downloader.ts'
import { deleteFile, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { everyNth } from '../../support/sized.ts'
import { noise } from '../../support/stored/noise.ts'
import { settled } from '../../support/stored/settled.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const run = promisify(execFile)

onOneOrTwoBackends('links to archives', (start, _, itOnce) => {
  let service: Service
  let photo: WireRecord
  let text: WireRecord
  let original: Buffer
  let large: WireRecord
  before(async () => {
    service = await start({ env: { ZIP_RATE_LIMIT: '0' } })
    original = noise(3_000_000)
    photo = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    text = await uploadOne(service, { name: 'a.txt', bytes: Buffer.from('text '.repeat(1000)) })
    large = await uploadOne(service, { name: 'a.bin', bytes: original })
    const small = `${new URL(photo.src).pathname}?w=20`
    expect((await exchange(service, small)).status).to.equal(200)
    await settled(service)
  })

  const secret = (token = service.tokens.secretClientToken) => ({
    Authorization: token,
    'Content-Type': 'application/json',
  })
  const files = () => [
    { path: photo.sourceName, name: 'photos/größe 🏯.png' },
    { path: photo.sourceName, params: { w: 20 }, name: 'small.png' },
    { path: text.sourceName, type: 'text', name: 'a.txt' },
    { path: large.sourceName, type: 'application', name: 'a.bin' },
    { path: 'missing.png' },
  ]
  async function link(
    list: readonly object[] = files(),
    archiveName = 'my photos.zip',
    token?: string,
  ): Promise<string> {
    const body = JSON.stringify({ files: list, archiveName })
    const answer = await exchange(service, '/v1/zip/links', { method: 'POST', headers: secret(token), body })
    expect(answer.status, answer.body.toString()).to.equal(201)
    const { url, expiresAt } = jsonOf(answer) as { url: string; expiresAt: string }
    expect(Date.parse(expiresAt) - Date.now()).to.be.within(86_300_000, 86_400_000)
    return new URL(url).pathname
  }

  itOnce('deliver the archive with its length, and unzip, 7z, bsdtar and Python read it', async () => {
    const answer = await exchange(service, await link())
    expect(answer.status).to.equal(200)
    expect(answer.headers).to.include({
      'content-type': 'application/zip',
      'content-length': String(answer.body.length),
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-cache',
    })
    expect(answer.headers['content-disposition']).to.equal('attachment; filename="my photos.zip"')
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'a.zip'), answer.body)
    await run('unzip', ['-tq', 'a.zip'], { cwd: folder })
    await run('7z', ['t', 'a.zip'], { cwd: folder })
    await run('python3', ['-c', 'import zipfile; assert zipfile.ZipFile("a.zip").testzip() is None'], {
      cwd: folder,
    })
    await mkdir(join(folder, 'out'))
    await run('bsdtar', ['-xf', '../a.zip'], {
      cwd: join(folder, 'out'),
      env: { ...process.env, LC_ALL: 'C.UTF-8' },
    })
    expect((await readFile(join(folder, 'out', 'a.bin'))).equals(original)).to.equal(true)
    const image = await readFile(join(folder, 'out', 'photos', 'größe 🏯.png'))
    expect(image.equals(await picture())).to.equal(true)
    const manifest = JSON.parse(await readFile(join(folder, 'out', '_manifest.json'), 'utf8'))
    expect(manifest.map(({ status }: { status: string }) => status)).to.deep.equal([
      'ok',
      'ok',
      'ok',
      'ok',
      'error',
    ])
  })

  it('deliver any range, several ranges, and 304', async () => {
    const path = await link()
    const { body, headers } = await exchange(service, path)
    const size = body.length
    for (const [start, end] of [
      [0, 0],
      [10, 40],
      [size - 700, size - 1],
      [1000, size - 1000],
      [5, size - 1],
    ] as const) {
      const part = await exchange(service, path, { headers: { Range: `bytes=${start}-${end}` } })
      expect(part.status).to.equal(206)
      expect(part.headers['content-range']).to.equal(`bytes ${start}-${end}/${size}`)
      expect(part.body.equals(body.subarray(start, end + 1)), `${start}-${end}`).to.equal(true)
    }
    const several = await exchange(service, path, { headers: { Range: 'bytes=0-9,-10' } })
    expect([several.status, several.headers['content-type']?.split(';')[0]]).to.deep.equal([
      206,
      'multipart/byteranges',
    ])
    const beyond = await exchange(service, path, { headers: { Range: `bytes=${size}-` } })
    expect(beyond.status).to.equal(416)
    const known = await exchange(service, path, { headers: { 'If-None-Match': headers.etag } })
    expect(known.status).to.equal(304)
    const head = await exchange(service, path, { method: 'HEAD' })
    expect(head.headers['content-length']).to.equal(String(size))
  })

  for (const [program, args] of everyNth(2, [
    ['curl', ['-q', '-sS', '-C', '-', '-o', 'file']],
    ['wget', ['-nv', '-c', '-O', 'file']],
    ['aria2c', ['--no-conf', '-x4', '-s4', '-k1M', '-c', '-o', 'file', '--file-allocation=none']],
  ] as const))
    itOnce(`are resumed by ${program}`, async () => {
      const path = await link()
      const { body } = await exchange(service, path)
      const manager = await downloader(program)
      try {
        await manager.begin(body.subarray(0, 1_000_000))
        const { code, said } = await manager.run([...args, `${service.url}${path}`])
        expect(code, said).to.equal(0)
        expect((await manager.bytes()).equals(body)).to.equal(true)
      } finally {
        await manager.remove()
      }
    })

  it('never join two archives: a download that is resumed after a delete begins again', async () => {
    const other = await uploadOne(service, { name: 'b.bin', bytes: noise(5000) })
    const path = await link([...files(), { path: other.sourceName, type: 'application' }])
    const before = await exchange(service, path)
    await deleteFile(service, other.s3PathOriginal)
    const after = await exchange(service, path, { headers: { Range: 'bytes=100-' } })
    expect(after.status).to.equal(200)
    expect(after.headers.etag).not.to.equal(before.headers.etag)
    const condition = { Range: 'bytes=100-', 'If-Range': before.headers.etag }
    expect((await exchange(service, path, { headers: condition })).status).to.equal(200)
    expect((await exchange(service, path, { headers: { 'If-Match': before.headers.etag } })).status).to.equal(
      412,
    )
  })

  itOnce('never join two archives: not by the date, which is that of the newest file', async () => {
    const other = await uploadOne(service, { name: 'c.bin', bytes: noise(5000) })
    const newest = await uploadOne(service, { name: 'd.bin', bytes: noise(5000) })
    const path = await link([other, newest].map((file) => ({ path: file.sourceName, type: file.mimeType })))
    const { headers } = await exchange(service, path)
    await deleteFile(service, other.s3PathOriginal)
    const date = headers['last-modified']
    const rest = await exchange(service, path, { headers: { Range: 'bytes=100-', 'If-Range': date } })
    const since = await exchange(service, path, { headers: { 'If-Modified-Since': date } })
    expect([rest.status, since.status]).to.deep.equal([200, 200])
  })

  it('render what is not stored yet, without a length; then they have one', async () => {
    const path = await link([{ path: photo.sourceName, params: { w: 33 } }])
    const first = await exchange(service, path)
    expect([first.status, first.headers['content-length']]).to.deep.equal([200, undefined])
    await settled(service)
    const second = await exchange(service, path)
    expect(second.headers['content-length']).to.equal(String(second.body.length))
    // The bytes of the first one are others, so its rest is not in the second one.
    const rest = (condition = {}) =>
      exchange(service, path, { headers: { Range: 'bytes=100-', ...condition } })
    expect((await rest()).status).to.equal(200)
    expect((await rest({ 'If-Range': second.headers.etag })).status).to.equal(206)
  })

  itOnce('end when the secret that has requested them is revoked', async () => {
    const { app } = service
    const { stored, secret: scoped } = await app.clients.addSecret(FIRST_CLIENT_ID, {
      scope: { only: 'read' },
    })
    const path = await link(files(), 'a.zip', scoped)
    const own = await link(files(), 'a.zip')
    expect((await exchange(service, path, { method: 'HEAD' })).status).to.equal(200)
    await app.clients.removeSecret(FIRST_CLIENT_ID, String(stored.id))
    expect((await exchange(service, path)).status).to.equal(404)
    expect((await exchange(service, own, { method: 'HEAD' })).status).to.equal(200)
  })

  itOnce('count each request, also for a range', async () => {
    const limited = await start({ env: { ZIP_RATE_LIMIT: '2' } })
    const { sourceName } = await uploadOne(limited, { name: 'a.png', bytes: await picture() })
    const headers = { Authorization: limited.tokens.secretClientToken, 'Content-Type': 'application/json' }
    const body = JSON.stringify({ files: [{ path: sourceName }] })
    const made = await exchange(limited, '/v1/zip/links', { method: 'POST', headers, body })
    const { pathname } = new URL((jsonOf(made) as { url: string }).url)
    const rest = () => exchange(limited, pathname, { headers: { Range: 'bytes=1-' } })
    expect((await rest()).status).to.equal(206)
    const refused = await rest()
    expect(refused.status).to.equal(429)
    expect(refused.headers).to.have.property('retry-after')
  })

  itOnce('return 404 for another name or ID, and 405 for other methods', async () => {
    const path = await link()
    for (const wrong of [path.replace('my', 'your'), path.replace(/zip\/./, 'zip/_')])
      expect((await exchange(service, wrong)).status, wrong).to.equal(404)
    expect((await exchange(service, path, { method: 'POST' })).status).to.equal(405)
    const anonymous = await exchange(service, '/v1/zip/links', { method: 'POST', body: '{}' })
    expect(anonymous.status).to.equal(401)
  })

  itOnce('POST has the length too, when nothing can be compressed', async () => {
    const body = (list: readonly object[]) => ({
      method: 'POST',
      headers: secret(),
      body: JSON.stringify({ files: list }),
    })
    const stored = await exchange(service, '/v1/zip', body([{ path: photo.sourceName }]))
    expect(stored.headers['content-length']).to.equal(String(stored.body.length))
    expect(stored.headers.etag).to.match(/^"[\w-]{43}"$/)
    const compressed = await exchange(service, '/v1/zip', body([{ path: text.sourceName, type: 'text' }]))
    expect(compressed.headers).not.to.have.property('content-length')
    expect(compressed.body.length).to.be.below(text.size)
  })
})
