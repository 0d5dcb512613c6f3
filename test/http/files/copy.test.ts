import { expect } from 'chai'
import { onOneOrTwoBackends } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { picture } from '../../support/media/images.ts'
import { ask } from '../../support/requests/ask.ts'
import { type Caller, deleteFile, newClient, uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { filePath, listAll } from '../../support/stored/files.ts'
import { copiedOrMoved, copyOrMove } from '../../support/stored/moves.ts'

onOneOrTwoBackends('POST /v1/files/copy', (start, _, itOnce) => {
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

  const text = async (bytes = 'a', path?: string) =>
    uploadOne(client, { name: 'a.txt', bytes }, path === undefined ? {} : { path })
  const keys = async () => (await listAll(client)).map((file) => file.s3PathOriginal).sort()
  const setRules = (rules: object) => service.app.clients.setRules(client.id, rules)

  it('stores the bytes in another folder under a new id, with the name, tags and metadata', async () => {
    const source = await uploadOne(client, { name: 'photo.png', bytes: png }, { path: 'a' })
    const change = { tags: ['red'], metadata: { sku: 'A-1' } }
    await ask(client, filePath(source.s3PathOriginal), { method: 'PATCH', json: change })
    const copy = await copiedOrMoved(client, 'copy', { from: source.s3PathOriginal, to: 'b/c' })
    expect(copy).to.deep.include({ ...change, originalName: 'photo.png', size: png.length })
    expect(copy.s3PathOriginal).to.equal(`b/c/image/png/${copy.sourceName}`)
    expect(copy.sourceName).not.to.equal(source.sourceName)
    const { body } = await exchange(service, copy.src)
    expect(body.equals(png)).to.equal(true)
    expect((await exchange(service, `${copy.src}?w=10`)).status).to.equal(200)
    const [listed] = await listAll(client, 'prefix=b')
    expect(listed).to.deep.equal(copy)
    expect((await deleteFile(client, source.s3PathOriginal)).status).to.equal(200)
    expect((await exchange(service, copy.src)).body.equals(png)).to.equal(true)
    expect((await command(service, 'check', { clientId: client.id, digests: true })).findings).to.deep.equal(
      [],
    )
  })

  it('retains the id with a path, and responds 409 for a path that is not free', async () => {
    const { s3PathOriginal: from, sourceName } = await text('a', 'a')
    const short = await copiedOrMoved(client, 'copy', { from, to: `b/${sourceName}` })
    expect(short.s3PathOriginal).to.equal(`b/text/txt/${sourceName}`)
    const full = await copiedOrMoved(client, 'copy', { from, to: `text/txt/${sourceName}` })
    expect(full.s3PathOriginal).to.equal(`text/txt/${sourceName}`)
    const again = [from, `b/${sourceName}`, sourceName].map((to) => ({ from, to }))
    const outcomes = await copyOrMove(client, 'copy', again)
    expect(outcomes.map(({ code }) => code)).to.deep.equal(Array(3).fill('file_exists'))
    await setRules({ keepDeletedSeconds: 60 })
    await deleteFile(client, short.s3PathOriginal)
    expect((await copyOrMove(client, 'copy', again.slice(1, 2)))[0]?.code).to.equal('file_exists')
    expect(await keys()).to.deep.equal([from, full.s3PathOriginal].sort())
  })

  it('stores one file when several copies with one path are requested at once', async () => {
    const { s3PathOriginal: from, sourceName } = await text()
    const files = Array.from({ length: 8 }, () => ({ from, to: `b/${sourceName}` }))
    const codes = (await copyOrMove(client, 'copy', files)).map(({ code, status }) => code ?? status)
    expect(codes.sort()).to.deep.equal(['copied', ...Array(7).fill('file_exists')])
    expect(await keys()).to.have.length(2)
    expect((await command(service, 'check', { clientId: client.id })).findings).to.deep.equal([])
  })

  itOnce('returns the outcome of each file, in the requested order', async () => {
    const { s3PathOriginal: from, sourceName } = await text()
    const other = await newClient(service)
    const theirs = (await uploadOne(other, { name: 'a.txt', bytes: 'a' })).s3PathOriginal
    const missing = 'text/txt/1111111111111111111111.txt'
    const outcomes = await copyOrMove(client, 'copy', [
      { from, to: '' },
      { from: missing, to: 'a' },
      { from: theirs, to: 'a' },
      { from: '../x', to: 'a' },
      { from, to: 'a/../b' },
      { from, to: '.sluice/meta' },
      { from, to: 'a/1111111111111111111111.txt' },
      { from, to: `a/${sourceName.replace('.txt', '.png')}` },
      { from, to: `a/image/png/${sourceName.replace('.txt', '.png')}` },
      { from: sourceName, to: 'ü/b/' },
    ])
    expect(outcomes.map(({ code, status }) => code ?? status)).to.deep.equal([
      'copied',
      'file_not_found',
      'file_not_found',
      'bad_path',
      'bad_path',
      'bad_path',
      'bad_parameter',
      'bad_parameter',
      'bad_parameter',
      'copied',
    ])
    expect(outcomes[1]?.path).to.equal(missing)
    expect(outcomes[0]?.file?.s3PathOriginal).to.match(/^text\/txt\//)
    expect(outcomes[9]?.file?.s3PathOriginal).to.match(/^ü\/b\/text\/txt\//)
    expect(await keys()).to.have.length(3)
    expect(await listAll(other)).to.have.length(1)
  })

  itOnce('refuses other bodies, and secrets that may not change files', async () => {
    const { s3PathOriginal: from } = await text()
    const file = { from, to: 'b' }
    const bodies: unknown[] = [{}, { files: [] }, { files: Array(101).fill(file) }, { files: [{ from }] }]
    for (const json of [...bodies, { files: [{ ...file, redirect: '1d' }] }, [file]])
      expect((await ask(client, '/v1/files/copy', { method: 'POST', json })).status).to.equal(400)
    for (const only of ['read', 'upload'] as const) {
      const { secret } = await service.app.clients.addSecret(client.id, { scope: { only } })
      const options = { method: 'POST', json: { files: [file] }, secret }
      expect((await ask(client, '/v1/files/copy', options)).status, only).to.equal(403)
    }
    expect((await ask(client, '/v1/files/copy')).headers.get('allow')).to.equal('POST')
    expect(await keys()).to.have.length(1)
  })

  itOnce('stays within the folder of a secret, with the source and with the target', async () => {
    const [inside, outside] = [await text('a', 'a/b'), await text('b', 'b')]
    const { secret } = await service.app.clients.addSecret(client.id, { scope: { folder: 'a' } })
    const [from, other] = [inside.s3PathOriginal, outside.s3PathOriginal]
    const targets = ['a/c', 'b', '', 'ab', `b/${inside.sourceName}`, inside.sourceName]
    const files = [...targets.map((to) => ({ from, to })), { from: other, to: 'a' }]
    const outcomes = await copyOrMove(client, 'copy', files, { secret })
    expect(outcomes.map(({ code, status }) => code ?? status)).to.deep.equal([
      'copied',
      ...Array(5).fill('out_of_scope'),
      'file_not_found',
    ])
    expect(await keys()).to.have.length(3)
  })

  itOnce('returns the identical file of the folder, with the rule to reuse duplicates', async () => {
    const source = await text('same', 'a')
    const twin = await text('same', 'b')
    const from = source.s3PathOriginal
    const unruled = await copiedOrMoved(client, 'copy', { from, to: 'c' })
    expect(unruled.s3PathOriginal).to.match(/^c\//)
    await setRules({ dedupe: 'reuse' })
    expect((await copiedOrMoved(client, 'copy', { from, to: 'b' })).s3PathOriginal).to.equal(
      twin.s3PathOriginal,
    )
    expect((await copiedOrMoved(client, 'copy', { from, to: 'a' })).s3PathOriginal).to.equal(from)
    expect((await copiedOrMoved(client, 'copy', { from, to: 'd' })).s3PathOriginal).to.match(/^d\//)
    // A path is an explicit request.
    await copiedOrMoved(client, 'copy', { from, to: `b/${source.sourceName}` })
    expect(await keys()).to.have.length(5)
  })

  itOnce('counts copies as stored files, and not as uploads', async () => {
    const { s3PathOriginal: from } = await text('12345')
    await copiedOrMoved(client, 'copy', { from, to: 'b' })
    const { body } = await ask(client, '/v1/usage')
    const { files, storedBytes, days } = body as { files: number; storedBytes: number; days: object[] }
    expect({ files, storedBytes }).to.deep.equal({ files: 2, storedBytes: 10 })
    expect(days.at(-1)).to.include({ uploads: 1, uploadedBytes: 5 })
  })
})
