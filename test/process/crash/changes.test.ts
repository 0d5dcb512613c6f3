import { expect } from 'chai'
import { type Backend, EMBEDDED } from '../../support/backend.ts'
import { endLocks, S3_REDIS, stoppedAtTheEnd } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { ask } from '../../support/requests/ask.ts'
import { type Caller, deleteFile, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import type { Remote } from '../../support/requests/remote.ts'
import { fetchingFrom, fileServer, keepPath } from '../../support/requests/remote-files.ts'
import { crashedBackends, crashPoints } from '../../support/servers/crash-points.ts'
import { type Service, startService } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'
import { askAlias, setAlias } from '../../support/stored/aliases.ts'
import { withClock } from '../../support/stored/clock.ts'
import { filePath, listAll, type WireFile } from '../../support/stored/files.ts'

const KEEP_SECONDS = 3600

/**
 * The steps at which a process dies: where files are shared, and in `npm test`, only those between one store and the other.
 */
function stepsOn<T>(backend: Backend, steps: Readonly<Record<string, T>>, between: readonly string[]) {
  const isEveryStep = backend === EMBEDDED && sized(between.length === 0, true)
  return Object.entries(steps).filter(([step]) => isEveryStep || between.includes(step))
}

for (const backend of crashedBackends(EMBEDDED, S3_REDIS))
  describe(`a process killed while it changes files (${backend.name})`, () => {
    const start = stoppedAtTheEnd((options) => startService({ backend, ...options }))
    let png: Buffer
    let remote: Remote
    let env: Record<string, string>
    before(async () => {
      png = await picture()
      remote = await fileServer({ '/a.png': png })
      env = fetchingFrom(remote)
    })
    after(() => remote.close())

    const crash = crashPoints(backend, () => env)
    let clock: { aheadMs: number }
    beforeEach(() => {
      clock = { aheadMs: 0 }
    })

    /**
     * Waits for the comparison of a new index with the bucket. Later it would make them agree where a test expects that they
     * differ.
     */
    async function compared({ storage: { index } }: Service): Promise<void> {
      await eventually(async () => {
        const { id, isCompared } = await index.run()
        expect(id === undefined || isCompared).to.equal(true)
        expect(await index.isComplete()).to.equal(true)
      })
    }

    /** Does what comes before, by a process that lives. */
    async function prepared<T>(dataDir: string, work: (service: Service) => Promise<T>): Promise<T> {
      const service = await start({ dataDir, env })
      await compared(service)
      const outcome = await work(service)
      await service.stop({ keepData: true })
      return outcome
    }

    /** Another process, after the locks of the previous one have expired. */
    async function next(dataDir: string): Promise<Service> {
      await endLocks(dataDir)
      const service = await start({ dataDir, env, wrapStorage: withClock(clock) })
      // That of the start, which another one would join.
      await service.app.sweep()
      return service
    }

    async function sweptAhead(service: Service, aheadMs: number): Promise<void> {
      clock.aheadMs = aheadMs
      await service.app.sweep()
      clock.aheadMs = 0
    }

    const originals = async (service: Service) =>
      (await service.objects()).filter((name) => !name.includes('.sluice'))
    const findings = async (service: Service) => (await command(service, 'check')).findings
    const expectNoFindings = async (service: Service) => expect(await findings(service)).to.deep.equal([])
    const expectDelivered = async (service: Service, { src }: WireRecord) => {
      const { status, body } = await exchange(service, new URL(src).pathname)
      expect([status, body.equals(png)]).to.deep.equal([200, true])
    }

    // What is fetched in all, the time of the dead process included.
    const keepSteps = {
      'after bucket.put original': 2,
      'after bucket.put note': 2,
      'after bucket.put record': 1,
      'after index.finishUpload': 1,
    }
    const keepStepsBetween = ['after bucket.put note', 'after bucket.put record']
    for (const [step, fetches] of stepsOn(backend, keepSteps, keepStepsBetween).slice(sized(1, 0)))
      crash(`a mirrored remote file, ${step}: is stored once in the end, fetched ${fetches} times`, {
        step,
        async prepare(dataDir) {
          await prepared(dataDir, ({ app }) => app.clients.setRules('first', { fetchHosts: 'any' }))
          return remote.url(`/a.png?${step}`)
        },
        work: (dying, url) => exchange(dying, keepPath(dying, url)),
        async test(dataDir, url) {
          const service = await next(dataDir)
          const kept = async () => {
            const { status, body, headers } = await exchange(service, keepPath(service, url))
            expect([status, body.equals(png)]).to.deep.equal([200, true])
            return String(headers.etag).replaceAll('"', '')
          }
          // A request need not wait for a sweep.
          const early = backend === EMBEDDED ? await kept() : undefined
          await sweptAhead(service, 600_000)
          const key = await kept()
          if (early) expect(key).to.equal(early)
          expect(await originals(service)).to.deep.equal([`first/${key}`])
          expect(await listAll(service)).to.have.length(1)
          await expectNoFindings(service)
          const fetched = remote.requests.filter(({ url }) =>
            decodeURIComponent(url ?? '').endsWith(`?${step}`),
          )
          expect(fetched).to.have.length(fetches)
        },
      })

    const OLD = { originalName: 'old.png', tags: ['old'], metadata: { a: 'old', b: 'old' } }
    const NEW = { originalName: 'new.png', tags: ['new'], metadata: { a: 'old', b: 'new' } }
    const changeSteps = {
      'within bucket.put record': { told: OLD, agreed: OLD },
      'after bucket.put record': { told: NEW, agreed: NEW },
      'after index.amend': { told: NEW, agreed: NEW },
    }
    const said = ({ originalName, tags, metadata }: WireFile) => ({ originalName, tags, metadata })
    const told = async (caller: Caller, key: string) => (await ask(caller, filePath(key))).body as WireFile
    const change = (caller: Caller, key: string, json: object) =>
      ask(caller, filePath(key), { method: 'PATCH', json })

    for (const [step, expected] of stepsOn(backend, changeSteps, ['after bucket.put record']))
      crash(
        `annotations of a file, ${step}: are the old or the new ones, and a sweep makes index and bucket agree`,
        {
          step,
          prepare: (dataDir) =>
            prepared(dataDir, async (first) => {
              const record = await uploadOne(first, { name: 'old.png', bytes: png })
              await change(first, record.s3PathOriginal, OLD)
              return { record, key: record.s3PathOriginal }
            }),
          work: (dying, { key }) =>
            change(dying, key, { originalName: 'new.png', tags: ['new'], metadata: { b: 'new' } }),
          async test(dataDir, { record, key }) {
            const service = await next(dataDir)
            await sweptAhead(service, 600_000)
            for (const [when, what] of Object.entries(expected)) {
              if (when === 'agreed') await command(service, 'reindex')
              await expectNoFindings(service)
              expect(said(await told(service, key)), when).to.deep.equal(what)
              expect((await listAll(service)).map(said), when).to.deep.equal([what])
              await expectDelivered(service, record)
            }
            expect((await change(service, key, { tags: ['last'] })).status).to.equal(200)
            expect(said(await told(service, key))).to.deep.equal({ ...expected.agreed, tags: ['last'] })
            await expectNoFindings(service)
            expect(await originals(service)).to.deep.equal([`first/${key}`])
          },
        },
      )

    const aliasSteps = {
      'before bucket.put alias': 1,
      'within bucket.put alias': 1,
      'after bucket.put alias': 2,
    }
    for (const [step, version] of stepsOn(backend, aliasSteps, ['after bucket.put alias']))
      crash(`an alias that it sets, ${step}: has the old or the new file, and can be set again`, {
        step,
        prepare: (dataDir) =>
          prepared(dataDir, async (first) => {
            const keys: string[] = []
            for (const name of ['a.png', 'b.png'])
              keys.push((await uploadOne(first, { name, bytes: png })).s3PathOriginal)
            const [a = '', b = ''] = keys
            return { a, b, alias: await setAlias(first, 'shop/a', a) }
          }),
        work: (dying, { b }) => setAlias(dying, 'shop/a', b),
        async test(dataDir, { a, b, alias }) {
          const service = await next(dataDir)
          const delivered = async () => {
            const { status, headers } = await exchange(service, new URL(alias.src).pathname)
            return [status, headers.etag]
          }
          expect(await delivered()).to.deep.equal([200, `"${version === 1 ? a : b}"`])
          await expectNoFindings(service)
          // What was stored without a response counts: to set the same file again changes nothing.
          expect(await setAlias(service, 'shop/a', b)).to.include({ version: 2, file: b })
          expect(await delivered()).to.deep.equal([200, `"${b}"`])
          const back = await askAlias(service, 'shop/a/rollback', { method: 'POST' })
          expect(back.body).to.include({ version: 3, file: a })
          await expectNoFindings(service)
        },
      })

    const aliasDeleteSteps = { 'before bucket.delete alias': 200, 'after bucket.delete alias': 404 }
    for (const [step, status] of stepsOn(backend, aliasDeleteSteps, []).slice(sized(1, 0)))
      crash(`an alias that it deletes, ${step}: exists or does not, and its file remains`, {
        step,
        prepare: (dataDir) =>
          prepared(dataDir, async (first) => {
            const record = await uploadOne(first, { name: 'a.png', bytes: png })
            await setAlias(first, 'shop/a', record.s3PathOriginal)
            return record
          }),
        work: (dying) => askAlias(dying, 'shop/a', { method: 'DELETE' }),
        async test(dataDir, record) {
          const service = await next(dataDir)
          expect((await askAlias(service, 'shop/a')).status).to.equal(status)
          await expectDelivered(service, record)
          expect(await setAlias(service, 'shop/a', record.s3PathOriginal)).to.include({ version: 1 })
          await expectNoFindings(service)
        },
      })

    const restore = async (caller: Caller, key: string) => {
      const { body } = await ask(caller, '/v1/files/restore', { method: 'POST', json: { paths: [key] } })
      const [result] = (body as { results: Array<{ status: string; code?: string }> }).results
      return result?.code ?? result?.status
    }
    /** A client's file, where what is deleted is kept. */
    const uploaded = async (service: Service) => {
      await service.app.clients.setRules('first', { keepDeletedSeconds: KEEP_SECONDS })
      const record = await uploadOne(service, { name: 'a.png', bytes: png })
      return { record, key: record.s3PathOriginal }
    }
    const listed = async (service: Service) => ({
      files: (await listAll(service)).length,
      deleted: (await listAll(service, 'deleted')).length,
    })
    async function expectGoneAfterItsTime(service: Service, dataDir: string): Promise<void> {
      await sweptAhead(service, (KEEP_SECONDS + 60) * 1000)
      expect(await listed(service)).to.deep.equal({ files: 0, deleted: 0 })
      await service.stop({ keepData: true })
      expect(await backend.state(dataDir)).to.deep.equal({ files: [], rows: [] })
    }

    // Whether the record has the mark of the trash. Otherwise the sweep restores the file, whose delete was not acknowledged.
    const trashSteps = {
      'after index.trash': false,
      'within bucket.put record': false,
      'after bucket.put record': true,
    }
    for (const [step, isTrashed] of stepsOn(backend, trashSteps, ['after index.trash']))
      crash(`a file that it soft-deletes, ${step}: can be deleted again, restored, and expires in the end`, {
        step,
        prepare: (dataDir) => prepared(dataDir, uploaded),
        work: (dying, { key }) => deleteFile(dying, key),
        async test(dataDir, { record, key }) {
          const service = await next(dataDir)
          await sweptAhead(service, 600_000)
          const expected = isTrashed ? { files: 0, deleted: 1 } : { files: 1, deleted: 0 }
          expect(await listed(service)).to.deep.equal(expected)
          await expectNoFindings(service)
          expect((await deleteFile(service, key)).status).to.equal(isTrashed ? 404 : 200)
          expect(await listed(service)).to.deep.equal({ files: 0, deleted: 1 })

          expect(await restore(service, key)).to.equal('restored')
          await expectDelivered(service, record)
          expect(await listed(service)).to.deep.equal({ files: 1, deleted: 0 })
          await expectNoFindings(service)
          expect((await deleteFile(service, key)).status).to.equal(200)
          await expectGoneAfterItsTime(service, dataDir)
        },
      })

    const restoreSteps = {
      'within bucket.put record': { listed: { files: 0, deleted: 1 }, again: 'restored' },
      'after bucket.put record': { listed: { files: 1, deleted: 0 }, again: 'not_deleted' },
      'after index.restore': { listed: { files: 1, deleted: 0 }, again: 'not_deleted' },
    }
    for (const [step, expected] of stepsOn(backend, restoreSteps, ['after bucket.put record']))
      crash(`a file that it restores, ${step}: can be restored again, and remains`, {
        step,
        prepare: (dataDir) =>
          prepared(dataDir, async (first) => {
            const file = await uploaded(first)
            await deleteFile(first, file.key)
            return file
          }),
        work: (dying, { key }) => restore(dying, key),
        async test(dataDir, { record, key }) {
          const service = await next(dataDir)
          await sweptAhead(service, 600_000)
          expect(await listed(service)).to.deep.equal(expected.listed)
          await expectNoFindings(service)
          expect(await restore(service, key)).to.equal(expected.again)
          expect(await listed(service)).to.deep.equal({ files: 1, deleted: 0 })
          await sweptAhead(service, (KEEP_SECONDS + 60) * 1000)
          expect(await originals(service)).to.deep.equal([`first/${key}`])
          await expectNoFindings(service)
          // Whatever was broken off, the bucket has it as stored by now.
          await service.stop({ keepData: true })
          await backend.emptyIndex(dataDir)
          await expectDelivered(await next(dataDir), record)
        },
      })
  })
