import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { newClient, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { MULTIPART, multipart, postForm, type RawPart } from '../../support/requests/multipart.ts'
import type { Service } from '../../support/service.ts'

const field = (name: string, bytes: string): RawPart => ({ disposition: `name="${name}"`, bytes })
const file = (bytes: string): RawPart => ({ disposition: 'name="file"; filename="a.txt"', bytes })

onOneBackend('the folder in a field of a form', (start) => {
  let service: Service
  before(async () => {
    service = await start()
  })
  const records = async (parts: readonly RawPart[], query = '') => {
    const answer = await postForm(service, parts, { query })
    expect(answer.status, answer.body.toString()).to.equal(200)
    return jsonOf(answer) as unknown as WireRecord[]
  }

  it('is that of all files, before, between and after them', async () => {
    const [one, two] = [file('one'), file('two')]
    for (const [i, parts] of [
      [field('path', 'a/b'), one, two],
      [one, field('folder', 'a/b'), two],
      [one, two, field('path', 'a/b'), field('folder', 'a/b')],
    ].entries()) {
      const stored = await records(parts)
      for (const [n, { src, s3PathOriginal }] of stored.entries()) {
        expect(s3PathOriginal, `form ${i}`).to.match(/^a\/b\/text\/txt\//)
        expect((await exchange(service, src)).body.toString()).to.equal(['one', 'two'][n])
      }
    }
    // What was stored before the field arrived is not left behind.
    await eventually(async () => {
      const outside = (await service.objects()).filter((key) => !key.includes('a/b/'))
      expect(outside).to.deep.equal([])
    })
    const list = await exchange(service, '/v1/files', {
      headers: { Authorization: service.tokens.secretClientToken },
    })
    expect((jsonOf(list) as { files: unknown[] }).files).to.have.length(6)
  })

  it('may be empty, and may repeat the one in the query', async () => {
    expect((await records([field('path', ''), file('x')]))[0]?.s3PathOriginal).to.match(/^text\//)
    expect((await records([file('x'), field('path', 'q')], '?path=q'))[0]?.s3PathOriginal).to.match(/^q\//)
  })

  it('is refused when it contradicts another one or is no folder, and nothing is stored', async () => {
    const before = await service.objects()
    for (const [parts, query, code] of [
      [[file('x'), field('path', 'a')], '?path=b', 'bad_parameter'],
      [[file('x'), field('path', 'a'), field('folder', 'b')], '', 'bad_parameter'],
      [[file('x'), field('path', 'a'), field('path', 'a')], '', 'bad_parameter'],
      [[file('x'), field('folder', '../a')], '', 'bad_path'],
      [[field('path', '/a'), file('x')], '', 'bad_path'],
    ] as const) {
      const answer = await postForm(service, parts, { query })
      expect(answer.status).to.equal(400)
      expect(jsonOf(answer)).to.include({ code })
    }
    await eventually(async () => expect(await service.objects()).to.deep.equal(before))
  })

  it('is refused with the name of the other field', async () => {
    for (const [first, second] of [
      ['path', 'folder'],
      ['folder', 'path'],
    ] as const) {
      const answer = await postForm(service, [file('x'), field(first, 'a'), field(second, 'b')])
      expect(jsonOf(answer)).to.include({
        param: second,
        expected: `the same value as ${first} (or send only one of them)`,
      })
    }
  })

  it('is within the folder of a secret, and never in an upload by a link', async () => {
    const link = jsonOf(
      await exchange(service, '/v1/sign/photos?expirationIn=60', {
        headers: { Authorization: service.tokens.secretClientToken },
      }),
    ) as { url: string }
    const answer = await exchange(service, link.url, {
      method: 'POST',
      headers: { 'Content-Type': MULTIPART },
      body: multipart([file('x'), field('path', 'elsewhere')]),
    })
    expect(jsonOf(answer)).to.include({ code: 'bad_parameter', param: 'path' })
    const client = await newClient(service)
    const { secret } = await service.app.clients.addSecret(client.id, { scope: { folder: 'inside' } })
    const send = (folder: string) =>
      postForm(client, [file('x'), field('path', folder)], { headers: { Authorization: secret } })
    expect(jsonOf(await send('outside'))).to.include({ code: 'out_of_scope' })
    expect(jsonOf(await send('inside/deep')))
      .to.have.nested.property('[0].s3PathOriginal')
      .that.match(/^inside\/deep\//)
  })
})
