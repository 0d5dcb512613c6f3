import { expect } from 'chai'
import { aliasUrl, buildUrl, createClient, SluiceError } from '../../client/index.ts'
import { onOneBackend } from '../support/backends.ts'
import { picture } from '../support/media/images.ts'
import { rejection } from '../support/rejection.ts'

onOneBackend('client.aliases', (start) => {
  it('sets, delivers, lists, rolls back and deletes an alias', async () => {
    const { url, tokens } = await start()
    const { files, aliases } = createClient({ baseUrl: url, secret: tokens.secretClientToken })
    const [former, current] = [
      await files.upload(new Blob([await picture({ width: 40 })]), { name: 'a.png' }),
      await files.upload(new Blob([await picture({ width: 50 })]), { name: 'b.png', folder: 'shop' }),
    ]
    const name = 'products/käse & co.png'
    expect(await aliases.set(name, former)).to.include({ name, version: 1, file: former.s3PathOriginal })
    const alias = await aliases.set(name, current.s3PathOriginal)
    expect(alias.versions.map(({ file }) => file)).to.deep.equal([
      current.s3PathOriginal,
      former.s3PathOriginal,
    ])
    expect(await aliases.get(name)).to.deep.equal(alias)

    const address = aliasUrl(name, { baseUrl: `${url}/`, clientToken: tokens.clientToken })
    expect(address).to.equal(alias.src)
    const response = await fetch(buildUrl(address, { w: 20 }))
    expect([response.status, response.headers.get('etag')]).to.deep.equal([
      200,
      `"${current.s3PathOriginal}_w=20"`,
    ])
    await response.arrayBuffer()

    for (const other of ['products/a', 'products/b', 'other']) await aliases.set(other, former)
    const names: string[] = []
    for await (const { name } of aliases.list({ prefix: 'products', limit: 1 })) names.push(name)
    expect(names).to.deep.equal(['products/a', 'products/b', name])

    expect(await aliases.rollback(name)).to.include({ version: 3, file: former.s3PathOriginal })
    expect(await aliases.rollback(name, { version: 2 })).to.include({ file: current.s3PathOriginal })
    expect(await aliases.delete(name)).to.equal(undefined)
    const error = await rejection(aliases.get(name))
    expect(error).to.be.instanceOf(SluiceError).and.include({ status: 404, code: 'alias_not_found' })
  })

  it('repeats a rollback after a lost response only when it names a version', async () => {
    let requests = 0
    const options = {
      baseUrl: 'http://127.0.0.1:1',
      secret: 'sec_a',
      fetch: async () => {
        requests += 1
        if (requests > 1) return Response.json({ name: 'a' })
        throw new TypeError('the connection was lost')
      },
    }
    const { aliases } = createClient(options)
    expect(await rejection(aliases.rollback('a'))).to.include({ code: 'network' })
    expect(requests).to.equal(1)
    requests = 0
    expect(await aliases.rollback('a', { version: 2 })).to.deep.equal({ name: 'a' })
    expect(requests).to.equal(2)
  })

  it('names the type of a file that is no image in its URL', () => {
    const place = { baseUrl: 'https://files.example', clientToken: 'pub_a', type: 'video' } as const
    expect(aliasUrl('a/b c', place)).to.equal('https://files.example/v1/video/alias/pub_a/a/b%20c')
  })
})
