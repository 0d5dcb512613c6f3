import { expect } from 'chai'
import { onOneOrTwoBackends } from '../../../support/backends.ts'
import { picture } from '../../../support/media/images.ts'
import {
  type Caller,
  deleteFile,
  newClient,
  uploadOne,
  type WireRecord,
} from '../../../support/requests/client.ts'
import { type Answer, exchange, jsonOf } from '../../../support/requests/exchange.ts'
import { MULTIPART, multipart } from '../../../support/requests/multipart.ts'
import type { Service } from '../../../support/service.ts'
import { sized } from '../../../support/sized.ts'
import { startedWithClock } from '../../../support/stored/clock.ts'
import { expectLasting } from '../../../support/texts/lasting.ts'

onOneOrTwoBackends('signed upload links', (start, _, itOnce) => {
  let service: Service
  let png: Buffer
  /** For one test: that of the service. */
  const clock = { aheadMs: 0 }
  before(async () => {
    png = await picture()
    service = await startedWithClock(clock, () => start({ env: { SIGN_RATE_LIMIT: '0' } }))
  })

  const sign = async (body: object, caller: Caller = service): Promise<Answer> =>
    exchange(caller, '/v1/sign', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: caller.tokens.secretClientToken },
      body: JSON.stringify(body),
    })
  const link = async (body: object = {}, caller: Caller = service) => {
    const answer = await sign({ expiresIn: 3600, ...body }, caller)
    expect(answer.status, String(answer.body)).to.equal(200)
    return jsonOf(answer) as { url: string; method: string; expiresAt: string }
  }
  const put = (url: string, body: Uint8Array | string = png, headers: Record<string, string> = {}) =>
    exchange(service, url.slice(service.url.length), { method: 'PUT', body, headers })
  const recordOf = (answer: Answer) => {
    expect(answer.status, String(answer.body)).to.equal(200)
    return (jsonOf(answer) as unknown as WireRecord[])[0] as WireRecord
  }

  it('have the documented shape, and store the file under their ID', async () => {
    const since = Date.now()
    const { url, method, expiresAt } = await link({ folder: 'a/ü b' })
    expect(method).to.equal('PUT')
    expectLasting(expiresAt, { since, ms: 3_600_000 })
    const { pathname, searchParams } = new URL(url)
    expect(pathname).to.match(/^\/v1\/upload\/sign\/[^/]{22}\/[\w.-]+\/a\/%C3%BC%20b$/)
    expect([...searchParams]).to.deep.equal([['expirationIn', '3600']])
    const record = recordOf(await put(url))
    expect(record.s3PathOriginal).to.equal(`a/ü b/image/png/${pathname.split('/')[4]}.png`)
    const delivered = await exchange(service, `${record.src}?w=20`)
    expect(delivered.status).to.equal(200)
  })

  itOnce('can be created by GET, with _ for no folder', async () => {
    const headers = { Authorization: service.tokens.secretClientToken }
    for (const [path, folder] of [
      ['_', ''],
      ['a/b', 'a/b/'],
      ['url', 'url/'],
    ]) {
      const answer = await exchange(service, `/v1/sign/${path}?expirationIn=60`, { headers })
      expect(answer.headers['cache-control']).to.equal('no-store')
      const { url } = jsonOf(answer) as { url: string }
      expect(url).to.match(new RegExp(`/${path}\\?expirationIn=60$`))
      expect(recordOf(await put(url)).s3PathOriginal).to.match(new RegExp(`^${folder}image/png/`))
    }
  })

  itOnce('accept forms, and apply their fields', async () => {
    const { url } = await link()
    const form = multipart([
      { disposition: 'name="info"', bytes: '1' },
      { disposition: 'name="file"; filename="mine.png"', bytes: png },
    ])
    const answer = await exchange(service, url.slice(service.url.length), {
      method: 'POST',
      headers: { 'Content-Type': MULTIPART },
      body: form,
    })
    const record = recordOf(answer)
    expect(record.originalName).to.equal('mine.png')
    expect(record.options).to.have.nested.property('info.format', 'png')
    const two = await link()
    const both = multipart(
      ['a', 'b'].map((name) => ({ disposition: `name="file"; filename="${name}"`, bytes: 'x' })),
    )
    const refused = await exchange(service, two.url.slice(service.url.length), {
      method: 'POST',
      headers: { 'Content-Type': MULTIPART },
      body: both,
    })
    expect(refused.status).to.equal(400)
    expect(recordOf(await put(two.url)).size).to.equal(png.length)
  })

  itOnce('refuse transforms', async () => {
    const { url } = await link()
    const file = { disposition: 'name="file"; filename="mine.png"', bytes: png }
    const asked = { disposition: 'name="transforms"', bytes: '["w=20"]' }
    const left = { disposition: 'name="transforms"', bytes: '' }
    const post = (...parts: Parameters<typeof multipart>[0]) =>
      exchange(service, url.slice(service.url.length), {
        method: 'POST',
        headers: { 'Content-Type': MULTIPART },
        body: multipart(parts),
      })
    const before = await service.objects()
    for (const parts of [
      [asked, file],
      [file, asked],
    ]) {
      const answer = await post(...parts)
      expect([answer.status, jsonOf(answer).param]).to.deep.equal([400, 'transforms'])
      expect(await service.objects()).to.deep.equal(before)
    }
    expect(recordOf(await post(left, file)).options).to.deep.equal({})
  })

  itOnce('respond 403 when any character is changed, removed or added', async () => {
    const { url } = await link({ folder: 'ab', maxBytes: 1_000_000, types: ['image/png'], uses: 3 })
    const target = url.slice(service.url.length)
    const from = '/v1/upload/sign/'.length
    const wrong = new Set<string>()
    for (let at = from; at < target.length; at += sized(7, 1)) {
      const [before, char, behind] = [target.slice(0, at), target[at] ?? '', target.slice(at + 1)]
      wrong.add(before + behind)
      for (const other of [/[a-z]/.test(char) ? char.toUpperCase() : char.toLowerCase(), '0', 'A', '-', '.'])
        if (other !== char) wrong.add(before + other + behind)
      if (/[a-z]/i.test(char)) wrong.add(`${before}%${char.charCodeAt(0).toString(16)}${behind}`)
    }
    for (const added of ['&', '&a=b', '0', '#', '&expirationIn=3600']) wrong.add(target + added)
    wrong
      .add(target.replace('?', '/?'))
      .add(target.replace('3600', '03600'))
      .add(target.replace('3600', '+3600'))
    const before = await service.objects()
    for (const each of wrong) {
      if (each === `${target}#`) continue
      const { status } = await exchange(service, each, { method: 'PUT', body: 'x' })
      // Without its slashes it is another address.
      expect(status, each).to.be.oneOf(
        each.split('/').length < 8 || each.includes('//') ? [403, 404, 405] : [403],
      )
    }
    expect(await service.objects()).to.deep.equal(before)
    expect((await put(url)).status).to.equal(200)
  })

  it('work once', async () => {
    const { url } = await link()
    const { s3PathOriginal } = recordOf(await put(url))
    for (const body of [png, 'text']) {
      const again = await put(url, body)
      expect(again.status).to.equal(409)
      expect(jsonOf(again).code).to.equal('link_used')
    }
    await deleteFile(service, s3PathOriginal)
    expect((await put(url)).status).to.equal(409)
  })

  it('work once for many concurrent uploads', async () => {
    const { url } = await link()
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => put(url, i % 2 ? png : `text ${i}`)),
    )
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1)
    for (const { status, body } of answers)
      if (status !== 200)
        expect([status, JSON.parse(String(body)).code]).to.be.deep.oneOf([
          [409, 'link_busy'],
          [409, 'link_used'],
        ])
  })

  it('work as often as uses states, each time for another file', async () => {
    const { url } = await link({ uses: 3 })
    const keys = new Set<string>()
    for (let i = 0; i < 3; i += 1) keys.add(recordOf(await put(url)).sourceName)
    expect(keys).to.have.length(3)
    for (const key of keys) expect(url).not.to.include(key.slice(0, 22))
    expect((await put(url)).status).to.equal(409)
  })

  it('can be used again when the upload failed', async () => {
    const { url } = await link({ maxBytes: png.length, types: ['png', 'video/*'] })
    const tooLarge = await put(url, Buffer.concat([png, png]))
    expect(tooLarge.status).to.equal(413)
    const wrongType = await put(url, 'plain text')
    expect(wrongType.status).to.equal(415)
    expect(jsonOf(wrongType)).to.include({
      code: 'type_not_allowed',
      expected: 'image/png, video/*',
      received: 'text/plain',
    })
    expect((await put(url, '')).status).to.equal(415)
    expect(recordOf(await put(url)).size).to.equal(png.length)
  })

  itOnce('expire', async () => {
    const { url } = await link({ expiresIn: 600 })
    clock.aheadMs = 600_000
    const answer = await put(url)
    clock.aheadMs = 0
    expect(answer.status).to.equal(403)
    expect(jsonOf(answer).code).to.equal('link_expired')
  })

  itOnce('are refused with invalid options', async () => {
    const wrong: Array<[body: object, param: string]> = [
      [{}, 'expiresIn'],
      [{ expiresIn: 0 }, 'expiresIn'],
      [{ expiresIn: 604_801 }, 'expiresIn'],
      [{ expiresIn: 1.5 }, 'expiresIn'],
      [{ expiresIn: '60' }, 'expiresIn'],
      [{ expiresIn: 60, maxBytes: 0 }, 'maxBytes'],
      [{ expiresIn: 60, maxBytes: -1 }, 'maxBytes'],
      [{ expiresIn: 60, uses: 101 }, 'uses'],
      [{ expiresIn: 60, types: [] }, 'types'],
      [{ expiresIn: 60, types: ['image/nothing'] }, 'types[0]'],
      [{ expiresIn: 60, types: ['*/*'] }, 'types[0]'],
      [{ expiresIn: 60, folder: '..' }, 'folder'],
      [{ expiresIn: 60, folder: '/a' }, 'folder'],
      [{ expiresIn: 60, folder: '_' }, 'folder'],
      [{ expiresIn: 60, folder: '.sluice' }, 'folder'],
      [{ expiresIn: 60, folder: 'ü'.repeat(90) }, 'folder'],
      [{ expiresIn: 60, extra: 1 }, 'the body'],
    ]
    for (const [body, param] of wrong) {
      const answer = await sign(body)
      expect(answer.status, JSON.stringify(body)).to.equal(400)
      expect(jsonOf(answer).param, JSON.stringify(body)).to.equal(param)
    }
    const headers = { Authorization: service.tokens.secretClientToken }
    for (const target of [
      '_',
      '_?expirationIn=',
      '_?expirationIn=0',
      '_?expirationIn=1&a=b',
      '..%2fa?expirationIn=1',
    ])
      expect((await exchange(service, `/v1/sign/${target}`, { headers })).status, target).to.equal(400)
    expect((await exchange(service, '/v1/sign/_?expirationIn=60')).status).to.equal(401)
    expect((await exchange(service, '/v1/sign/_?expirationIn=60&secret=x', { headers })).status).to.equal(400)
  })

  it('belong to one client, end with it, and stay in the folder of the secret that created them', async () => {
    const client = await newClient(service)
    const { secret } = await service.app.clients.addSecret(client.id, {
      scope: { only: 'upload', folder: 'a' },
    })
    const scoped = { ...client, tokens: { ...client.tokens, secretClientToken: secret } }
    expect((await sign({ expiresIn: 60, folder: 'b' }, scoped)).status).to.equal(403)
    const { url } = await link({}, scoped)
    const { url: other } = await link({ uses: 2 }, client)
    const { s3PathOriginal, src } = recordOf(await put(url))
    expect(s3PathOriginal).to.match(/^a\/image\/png\//)
    expect(src).to.include(client.tokens.clientToken)
    expect((await deleteFile(service, s3PathOriginal)).status).to.equal(404)
    await put(other)
    const commands = service.app.commands
    const run = { signal: AbortSignal.timeout(10_000), report: async () => {} }
    await commands['client remove']?.({ id: client.id, files: true }, run)
    const late = await put(other)
    expect(late.status).to.equal(403)
  })

  itOnce('are rate limited by client', async () => {
    const limited = await start({ env: { SIGN_RATE_LIMIT: '2' } })
    const answers = []
    for (let i = 0; i < 3; i += 1) answers.push(await sign({ expiresIn: 60 }, limited))
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 429])
    expect(answers[0]?.headers['ratelimit-policy']).to.equal('"sign";q=2;w=3600')
  })

  itOnce('can be used by a page of any origin', async () => {
    const { url } = await link()
    const preflight = await exchange(service, url.slice(service.url.length), {
      method: 'OPTIONS',
      headers: { Origin: 'https://a.example', 'Access-Control-Request-Method': 'PUT' },
    })
    expect(preflight.status).to.equal(204)
    expect(preflight.headers).to.include({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'PUT, POST',
    })
    const answer = await put(url, png, { Origin: 'https://a.example' })
    expect(answer.headers['access-control-allow-origin']).to.equal('*')
  })

  itOnce('leave no signature in the log', async () => {
    const { url } = await link()
    await put(url)
    const signature = new URL(url).pathname.split('/')[5] ?? '?'
    expect(JSON.stringify(service.log.lines)).not.to.include(signature.slice(-20))
  })

  itOnce('leave a folder named sign usable', async () => {
    const { s3PathOriginal } = await uploadOne(service, { name: 'a.png', bytes: png }, { path: 'sign/a/b' })
    expect((await deleteFile(service, s3PathOriginal)).status).to.equal(200)
  })
})
