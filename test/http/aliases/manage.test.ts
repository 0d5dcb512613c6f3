import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { aliasRecordKey } from '../../../src/core/aliases/name.ts'
import { EMBEDDED } from '../../support/backend.ts'
import { onTwoBackends } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { ask } from '../../support/requests/ask.ts'
import { deleteFile, newClient, uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { usuallyOnce } from '../../support/sized.ts'
import { wrapBuckets } from '../../support/storage.ts'
import {
  askAlias,
  outcomeOf,
  setAlias,
  type WireAlias,
  type WireAliasList,
} from '../../support/stored/aliases.ts'
import { copiedOrMoved } from '../../support/stored/moves.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

onTwoBackends('aliases', (start, backend, itOnce) => {
  const itUsuallyOnce = usuallyOnce(itOnce)
  let service: Service
  let keys: string[]
  let images: Buffer[]
  before(async () => {
    service = await start({ clientCacheTtlMs: 200 })
    images = [
      await picture({ width: 40, height: 30 }),
      await picture({ width: 50, height: 30 }),
      await picture({ width: 60, height: 30 }),
    ]
    keys = []
    for (const bytes of images)
      keys.push((await uploadOne(service, { name: 'a.png', bytes }, { path: 'photos' })).s3PathOriginal)
  })
  const key = (number: number) => keys[number] ?? ''
  const get = async (name: string): Promise<WireAlias> => (await askAlias(service, name)).body
  const rollBack = (name: string, json?: object, headers: Record<string, string> = {}) =>
    askAlias(service, `${name}/rollback`, { method: 'POST', ...(json ? { json } : {}), headers })
  /** The index of the image that the alias delivers; -1 for any other response. */
  async function delivered(from: Pick<Service, 'url'>, { src }: Pick<WireAlias, 'src'>): Promise<number> {
    const { body } = await exchange(from, new URL(src).pathname)
    return images.findIndex((image) => image.equals(body))
  }

  it('are set, delivered, replaced, rolled back and deleted', async () => {
    const name = 'products/käse & co.jpg'
    const created = await askAlias(service, name, { method: 'PUT', json: { file: key(0) } })
    expect(created.status).to.equal(201)
    const first: WireAlias = created.body
    const { version, file, setAt, missing } = first
    expect(first).to.deep.equal({
      name,
      src: `${service.url}/v1/image/alias/${service.tokens.clientToken}/products/k%C3%A4se%20%26%20co.jpg`,
      ...{ version: 1, file: key(0), setAt, missing: false },
      versions: [{ version, file, setAt, missing }],
    })
    expect(Math.abs(Date.parse(setAt) - Date.now())).to.be.below(60_000)
    expect(await delivered(service, first)).to.equal(0)

    const replaced = await askAlias(service, name, { method: 'PUT', json: { file: key(1) } })
    expect(replaced.status).to.equal(200)
    expect(await delivered(service, first)).to.equal(1)
    // The short path names the same file: nothing changes.
    const [folder, , , sourceName] = key(1).split('/')
    const same = await setAlias(service, name, `${folder}/${sourceName}`)
    expect(same).to.deep.equal(replaced.body)
    expect(await get(name)).to.deep.equal(same)
    expect(same.versions.map(({ version, file }) => [version, file])).to.deep.equal([
      [2, key(1)],
      [1, key(0)],
    ])

    const back = await rollBack(name)
    expect(back.status).to.equal(200)
    expect(back.body).to.include({ version: 3, file: key(0) })
    expect(await delivered(service, first)).to.equal(0)
    // A second rollback undoes the first one.
    expect((await rollBack(name)).body).to.include({ version: 4, file: key(1) })
    expect((await rollBack(name, { version: 1 })).body).to.include({ version: 5, file: key(0) })
    // It has this target already.
    expect((await rollBack(name, { version: 3 })).body).to.include({ version: 5 })

    const removed = await askAlias(service, name, { method: 'DELETE' })
    expect([removed.status, removed.body]).to.deep.equal([204, undefined])
    expect(outcomeOf(await askAlias(service, name))).to.equal('404 alias_not_found')
    expect((await exchange(service, new URL(first.src).pathname)).status).to.equal(404)
    expect(outcomeOf(await askAlias(service, name, { method: 'DELETE' }))).to.equal('404 alias_not_found')
    expect((await ask(service, `/v1/files/${key(0)}`)).status).to.equal(200)
    // A new alias with this name begins again.
    expect(await setAlias(service, name, key(2))).to.include({ version: 1 })
  })

  itUsuallyOnce('are listed by name, page by page, in a folder or everywhere', async () => {
    const other = await newClient(service)
    const file = (await uploadOne(other, { name: 'a.png', bytes: images[0] ?? '' })).s3PathOriginal
    const names = ['b', 'a', 'a/c', 'a/b/d', 'a.d/e', 'Z', 'ab', 'ä']
    for (const name of names) await setAlias(other, name, file)
    async function list(query: string): Promise<string[]> {
      const found: string[] = []
      for (let cursor = ''; ; ) {
        const page: WireAliasList = (await ask(other, `/v1/aliases?${query}${cursor}`)).body
        for (const { name, ...rest } of page.aliases) {
          expect(rest).to.include({ version: 1, file, missing: false }).and.not.have.property('versions')
          found.push(name)
        }
        if (page.cursor === null) return found
        cursor = `&cursor=${page.cursor}`
      }
    }
    const sorted = [...names].sort()
    expect(await list('')).to.deep.equal(sorted)
    for (const limit of [1, 3, 8]) expect(await list(`limit=${limit}`), `${limit}`).to.deep.equal(sorted)
    expect(await list('prefix=a&limit=1')).to.deep.equal(['a/b/d', 'a/c'])
    expect(await list('prefix=a/b/')).to.deep.equal(['a/b/d'])
    expect(await list('prefix=b')).to.deep.equal([])

    const page: WireAliasList = (await ask(other, '/v1/aliases?limit=1')).body
    const misplaced = await ask(other, `/v1/aliases?prefix=a&cursor=${page.cursor}`)
    expect(outcomeOf(misplaced)).to.equal('400 bad_parameter')
  })

  itUsuallyOnce('of which one record is damaged are listed without it, and it can be deleted', async () => {
    const other = await newClient(service)
    const file = (await uploadOne(other, { name: 'a.png', bytes: images[0] ?? '' })).s3PathOriginal
    await setAlias(other, 'well', file)
    const bucket = service.storage.buckets.of({ id: other.id, token: other.tokens.clientToken })
    await bucket.put(aliasRecordKey('worn'), Readable.from([Buffer.from('{')]), {
      mediaType: 'application/json',
    })
    const page: WireAliasList = (await ask(other, '/v1/aliases')).body
    expect(page.aliases.map(({ name }) => name)).to.deep.equal(['well'])
    expect(outcomeOf(await askAlias(other, 'worn'))).to.equal('500 internal')
    expect((await command(service, 'check')).findings).to.include(
      `alias damaged: ${other.id} ${aliasRecordKey('worn')}`,
    )
    expect((await askAlias(other, 'worn', { method: 'DELETE' })).status).to.equal(204)
    expect(outcomeOf(await askAlias(other, 'worn'))).to.equal('404 alias_not_found')
  })

  itUsuallyOnce('are changed with If-Match only when no other request has changed them', async () => {
    const name = 'matched'
    const etagOf = async () => String((await askAlias(service, name)).headers.get('etag'))
    const put = (file: string, match: string) =>
      askAlias(service, name, { method: 'PUT', json: { file }, headers: { 'If-Match': match } })
    expect(outcomeOf(await put(key(0), '*'))).to.equal('412 precondition_failed')
    await setAlias(service, name, key(0))
    const first = await etagOf()
    expect(outcomeOf(await put(key(1), first))).to.equal('200')
    expect(outcomeOf(await put(key(2), first))).to.equal('412 precondition_failed')
    expect(outcomeOf(await rollBack(name, undefined, { 'If-Match': first }))).to.equal(
      '412 precondition_failed',
    )
    const stale = await askAlias(service, name, { method: 'DELETE', headers: { 'If-Match': first } })
    expect(outcomeOf(stale)).to.equal('412 precondition_failed')
    expect(await get(name)).to.include({ version: 2, file: key(1) })
    expect((await rollBack(name, {}, { 'If-Match': await etagOf() })).body).to.include({ file: key(0) })
    // Deleted and created again, it is another alias, even with the same version.
    await askAlias(service, name, { method: 'DELETE', headers: { 'If-Match': await etagOf() } })
    await setAlias(service, name, key(0))
    expect(outcomeOf(await put(key(1), first))).to.equal('412 precondition_failed')
  })

  itUsuallyOnce(
    'that are set concurrently get one version each, and one of the conditional requests wins',
    async () => {
      const name = 'contested'
      await setAlias(service, name, key(0))
      const match = { 'If-Match': String((await askAlias(service, name)).headers.get('etag')) }
      const outcomes = await Promise.all(
        [key(1), key(2)].map((file) =>
          askAlias(service, name, { method: 'PUT', json: { file }, headers: match }),
        ),
      )
      expect(outcomes.map(outcomeOf).sort()).to.deep.equal(['200', '412 precondition_failed'])
      const before = (await get(name)).version
      await Promise.all([0, 1, 2, 0, 1, 2].map((number) => setAlias(service, name, key(number))))
      const { versions } = await get(name)
      const numbers = versions.map(({ version }) => version)
      expect(numbers).to.deep.equal(numbers.map((_, i) => (numbers[0] ?? 0) - i))
      expect(numbers[0]).to.be.above(before)
    },
  )

  itUsuallyOnce(
    'whose file is deleted are missing, until it is restored or they are set to another file',
    async () => {
      await service.app.clients.setRules('first', { keepDeletedSeconds: 3600 })
      const { s3PathOriginal: file } = await uploadOne(service, { name: 'a.png', bytes: images[0] ?? '' })
      const alias = await setAlias(service, 'lost', key(1))
      await setAlias(service, 'lost', file)
      const missing = async () => {
        const { versions } = await get('lost')
        const page: WireAliasList = (await ask(service, '/v1/aliases?limit=1000')).body
        const [listed] = page.aliases.filter(({ name }) => name === 'lost')
        expect(listed?.missing).to.equal(versions[0]?.missing)
        return versions.map((one) => one.missing)
      }
      const get404 = async () => {
        const { status, body, headers } = await exchange(service, new URL(alias.src).pathname)
        return [status, headers['cache-control'], JSON.parse(body.toString()).code]
      }
      await deleteFile(service, file)
      expect(await missing()).to.deep.equal([true, false])
      expect(await get404()).to.deep.equal([404, 'no-store', 'alias_target_missing'])
      await ask(service, '/v1/files/restore', { method: 'POST', json: { paths: [file] } })
      expect(await missing()).to.deep.equal([false, false])
      expect(await delivered(service, alias)).to.equal(0)

      const finding = `alias without original: first ${aliasRecordKey('lost')}`
      expect((await command(service, 'check')).findings).to.not.include(finding)
      await exchange(service, `/v1/upload/${file}?now`, {
        method: 'DELETE',
        headers: { Authorization: service.tokens.secretClientToken },
      })
      expect(await get404()).to.deep.equal([404, 'no-store', 'alias_target_missing'])
      expect((await command(service, 'check')).findings).to.include(finding)
      expect((await rollBack('lost')).body).to.include({ file: key(1), missing: false })
      expect(outcomeOf(await rollBack('lost'))).to.equal('404 alias_target_missing')
      expect(await delivered(service, alias)).to.equal(1)
      expect((await command(service, 'check')).findings).to.not.include(finding)
    },
  )

  itOnce('whose file is moved deliver it, as long as the move has a redirect', async () => {
    const { s3PathOriginal: file } = await uploadOne(service, { name: 'a.png', bytes: images[0] ?? '' })
    const alias = await setAlias(service, 'moved', file)
    const moved = await copiedOrMoved(service, 'move', { from: file, to: 'archive', redirect: '1d' })
    expect(await delivered(service, alias)).to.equal(0)
    expect(await get('moved')).to.include({ version: 1, file, missing: false })
    const finding = `alias without original: first ${aliasRecordKey('moved')}`
    expect((await command(service, 'check')).findings).to.not.include(finding)
    await setAlias(service, 'moved', key(1))
    // A rollback sets the alias to the new place.
    expect((await rollBack('moved')).body).to.include({ version: 3, file: moved.s3PathOriginal })
    await copiedOrMoved(service, 'move', { from: moved.s3PathOriginal, to: 'elsewhere' })
    expect(await get('moved')).to.include({ missing: true })
    expect((await command(service, 'check')).findings).to.include(finding)
  })

  itUsuallyOnce('remain when the index was lost', async () => {
    const dataDir = await temporaryFolder()
    const former = await start({ dataDir })
    const { s3PathOriginal } = await uploadOne(former, { name: 'a.png', bytes: images[2] ?? '' })
    const alias = await setAlias(former, 'a/b', s3PathOriginal)
    await former.stop({ keepData: true })
    await backend.emptyIndex(dataDir)
    const next = await start({ dataDir })
    expect(await delivered(next, alias)).to.equal(2)
    const { versions } = (await askAlias(next, 'a/b')).body as WireAlias
    expect(versions).to.deep.equal(alias.versions)
    await command(next, 'reindex')
    expect((await command(next, 'check')).findings).to.deep.equal([])
    const page: WireAliasList = (await ask(next, '/v1/aliases')).body
    expect(page.aliases).to.have.length(1)
    // Of one process at a time: the folder is removed with it.
    await next.stop()
  })

  if (backend !== EMBEDDED)
    it('are changed by several processes one after the other, and delivered by all of them', async () => {
      let interrupt = async () => {}
      const wrapStorage = wrapBuckets((bucket) => ({
        async put(...object) {
          await interrupt()
          await bucket.put(...object)
        },
      }))
      const other = await start({ dataDir: service.dataDir, wrapStorage })
      const alias = await setAlias(service, 'shared', key(0))
      expect(await delivered(other, alias)).to.equal(0)
      await setAlias(service, 'shared', key(1))
      await eventually(async () => expect(await delivered(other, alias)).to.equal(1))

      const headers = { 'If-Match': String((await askAlias(service, 'shared')).headers.get('etag')) }
      const set = ({ url }: Service, file: string) =>
        askAlias({ ...service, url }, 'shared', { method: 'PUT', json: { file }, headers })
      let rival: ReturnType<typeof set> | undefined
      // After the first process has compared the condition, and before it writes.
      interrupt = async () => {
        rival = set(service, key(2))
        await Promise.race([rival, pause(300)])
      }
      expect(outcomeOf(await set(other, key(0)))).to.equal('200')
      expect(outcomeOf((await rival) ?? { status: 0, body: {} })).to.equal('412 precondition_failed')
      expect((await get('shared')).versions).to.have.length(3)
      for (const one of [service, other])
        await eventually(async () => expect(await delivered(one, alias)).to.equal(0))
      await other.stop({ keepData: true })
    })

  itUsuallyOnce('are deleted with their client', async () => {
    const other = await newClient(service)
    const file = (await uploadOne(other, { name: 'a.png', bytes: images[0] ?? '' })).s3PathOriginal
    await setAlias(other, 'a/b', file)
    const objects = async () => (await service.objects()).filter((one) => one.startsWith(other.id))
    expect((await objects()).join()).to.include('.sluice/aliases/a.d/b.json')
    await command(service, 'client remove', { id: other.id, files: true })
    expect(await objects()).to.deep.equal([])
  })
})
