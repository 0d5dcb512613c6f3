import { expect } from 'chai'
import { FIRST_CLIENT_ID } from '../../../src/core/clients/client.ts'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { onOneBackend } from '../../support/backends.ts'
import { newClient, postFiles, rawPath, uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'

onOneBackend('upload folders', (start) => {
  let service: Service
  before(async () => {
    service = await start()
  })

  const accepted = [
    'photos',
    'photos/2024',
    'a/b/c/d/e/f/g/h',
    'with spaces/and more',
    'größe/写真/🙂',
    'quotes "and" \'more\'',
    'semi;colon, comma & ampersand = plus+',
    '.hidden/..two/three...',
    '100 %/50 % of it',
    'image/png',
    'upload',
    '__proto__/constructor',
    `${'x'.repeat(99)}/${'y'.repeat(100)}`,
    'é'.repeat(100),
  ]
  for (const folder of accepted) {
    it(`store a file under ${JSON.stringify(folder.slice(0, 40))}, and every URL leads to it`, async () => {
      const bytes = `in ${folder}`
      const record = await uploadOne(service, { name: 'a.txt', bytes }, { path: folder })
      const { sourceName } = record
      expect(record.s3PathOriginal).to.equal(`${folder}/text/txt/${sourceName}`)
      expect(record.s3Path).to.equal(record.s3PathOriginal)
      expect(await service.objects()).to.include(`first/${record.s3PathOriginal}`)
      const escaped = record.s3PathOriginal.split('/').map(encodeURIComponent).join('/')
      const { clientToken } = service.tokens
      expect(record.src).to.equal(`${service.url}/v1/text/upload/${clientToken}/${escaped}`)
      // Also without group and format, and with the slashes encoded.
      const short = `/v1/text/upload/${clientToken}/${encodeURIComponent(`${folder}/${sourceName}`)}`
      for (const address of [record.src, rawPath(service, record.s3Path), short]) {
        const { status, body } = await exchange(service, address)
        expect({ status, body: body.toString() }, address).to.deep.equal({ status: 200, body: bytes })
      }
    })
  }

  it('give an ETag without quotes, spaces and non-ASCII characters, whatever their name is', async () => {
    const record = await uploadOne(service, { name: 'a.txt', bytes: 'text' }, { path: 'say "hi"/größe' })
    const { headers } = await exchange(service, record.src)
    expect(headers.etag).to.equal(`"say%20%22hi%22/gr%C3%B6%C3%9Fe/text/txt/${record.sourceName}"`)
  })

  it('may not have the name of a folder signature; existing files in such a folder remain readable', async () => {
    const folder = `s--1..${'x'.repeat(43)}--`
    const { clientToken } = service.tokens
    const answer = await postFiles(service, [{ name: 'a.txt', bytes: 'text' }], { path: folder })
    expect(answer.status).to.equal(400)
    expect(await answer.json()).to.include({ code: 'bad_path', param: 'path' })
    // As an earlier version has stored it: bytes and record, copied behind the back of a service that does not know them.
    const { s3Path } = await uploadOne(service, { name: 'a.txt', bytes: 'old' })
    const bucket = service.storage.buckets.of({ id: FIRST_CLIENT_ID, token: clientToken })
    for (const [from, to, mediaType] of [
      [s3Path, `${folder}/${s3Path}`, 'text/plain'],
      [`.sluice/meta/${s3Path}.json`, `.sluice/meta/${folder}/${s3Path}.json`, 'application/json'],
    ] as const)
      expect(await bucket.copy(storedKey(from), storedKey(to), { mediaType })).to.equal(true)
    const { status, body } = await exchange(service, `/v1/text/upload/${clientToken}/${folder}/${s3Path}`)
    expect([status, body.toString()]).to.deep.equal([200, 'old'])
    const list = await exchange(service, `/v1/files?prefix=${folder}/`, {
      headers: { Authorization: service.tokens.secretClientToken },
    })
    expect((jsonOf(list) as { files?: unknown[] }).files ?? []).to.have.length(1)
  })

  const refused: Record<string, string> = {
    'nothing at all': '',
    'a parent': '..',
    'a mark of text direction': 'photos\u202egnp',
    'a parent at the start': '../other',
    'a parent at the end': 'a/..',
    'a parent in the middle': 'a/../b',
    'the folder itself': './a',
    'a slash at the start': '/a',
    'a slash at the end': 'a/',
    'an empty segment': 'a//b',
    'a backslash': 'a\\b',
    'a backslash for a parent': '..\\b',
    NUL: 'a\0b',
    'a line break': 'a\r\nX-Injected: 1',
    DEL: 'a\x7fb',
    'a C1 control': 'a\x85b',
    'an encoded parent': '%2e%2e/a',
    'an encoded slash': 'a%2fb',
    'an encoded backslash': 'a%5Cb',
    'an encoded NUL': 'a%00b',
    'a parent encoded twice': '%252e%252e/a',
    'nine segments': 'a/b/c/d/e/f/g/h/i',
    '201 bytes': 'x'.repeat(201),
    '201 bytes of umlauts': `${'é'.repeat(100)}x`,
    'the folder of the records': '.sluice',
    'a folder in that of the records': '.sluice/meta/image',
    'a question mark': 'a?b',
    'a hash': 'a#b',
    'a scheme': 'file:etc',
  }
  for (const [what, folder] of Object.entries(refused)) {
    it(`cannot be ${what}, and nothing is stored`, async () => {
      const before = await service.objects()
      const response = await postFiles(service, [{ name: 'a.txt', bytes: 'x' }], { path: folder })
      const problem = (await response.json()) as Record<string, unknown>
      expect({ status: response.status, code: problem.code, param: problem.param }).to.deep.equal({
        status: 400,
        code: 'bad_path',
        param: 'path',
      })
      expect(response.headers.get('x-injected')).to.equal(null)
      expect(await service.objects()).to.deep.equal(before)
    })
  }

  it('cannot have the path of a stored file', async () => {
    const record = await uploadOne(service, { name: 'a.txt', bytes: 'x' })
    const response = await postFiles(service, [{ name: 'b.txt', bytes: 'y' }], {
      path: record.s3PathOriginal,
    })
    expect(response.status).to.equal(400)
  })

  it('may be the same for two clients without mixing their files', async () => {
    const other = await newClient(service)
    const mine = await uploadOne(service, { name: 'a.txt', bytes: 'mine' }, { path: 'common' })
    const theirs = await uploadOne(other, { name: 'a.txt', bytes: 'theirs' }, { path: 'common' })
    const crossed = mine.src.replace(service.tokens.clientToken, other.tokens.clientToken)
    expect((await exchange(service, crossed)).status).to.equal(404)
    expect((await exchange(service, theirs.src)).body.toString()).to.equal('theirs')
  })

  it('are set by path, and any other query parameter is refused before the body is read', async () => {
    for (const query of ['?folder=a', '?path=a&x=1', '?path=a&path=b', '?__proto__=1', '?w=100']) {
      const answer = await exchange(service, `/v1/upload${query}`, {
        method: 'POST',
        headers: { Authorization: service.tokens.secretClientToken, 'Content-Type': 'text/plain' },
        body: 'not even multipart',
      })
      expect({ status: answer.status, code: jsonOf(answer).code }, query).to.deep.equal({
        status: 400,
        code: 'bad_parameter',
      })
    }
  })
})
