import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import { readAll } from '../../../src/core/bytes/asset.ts'
import {
  clientRecordKey,
  derivativeKey,
  type ObjectKey,
  recordKey,
  storedKey,
} from '../../../src/core/files/object-key.ts'
import type { Bucket } from '../../../src/core/ports/bucket.ts'
import { Problem } from '../../../src/core/problem.ts'
import { listOf } from '../../contracts/file-index/file-index-model.ts'
import { EMBEDDED } from '../../support/backend.ts'
import { S3_REDIS, stoppedAtTheEnd } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { rejection } from '../../support/rejection.ts'
import { type Caller, newClient, postFiles, uploadOne } from '../../support/requests/client.ts'
import { type Service, startService } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'
import { wrapBuckets } from '../../support/storage.ts'
import { settled } from '../../support/stored/settled.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

type Other = Caller & { id: string }

for (const backend of [EMBEDDED, S3_REDIS])
  describe(`removing a client (${backend.name})`, () => {
    // On Redis each waits until other processes must have heard of it.
    const start = stoppedAtTheEnd((options) => startService({ backend, ...options }))
    let service: Service
    let other: Other
    let png: Buffer
    /** In the place of the other client's bucket. */
    let change: (bucket: Bucket) => Partial<Bucket>

    before(async () => {
      png = await picture()
      service = await start({
        clientCacheTtlMs: 200,
        wrapStorage: wrapBuckets((bucket, { id }) => (id === other?.id ? change(bucket) : {})),
      })
    })
    beforeEach(async () => {
      change = () => ({})
      other = await newClient(service)
    })

    const remove = (id: string, files = false) => command(service, 'client remove', { id, files })

    /** An original with one derivative, whose URL is answered. */
    async function stored(of: Caller): Promise<{ key: ObjectKey; url: string }> {
      const { s3PathOriginal, src } = await uploadOne(of, { name: 'a.png', bytes: png })
      const url = `${service.url}${new URL(src).pathname}`
      await (await fetch(`${url}?w=10`)).arrayBuffer()
      await settled(service)
      return { key: storedKey(s3PathOriginal), url }
    }

    /** Once, between the first look for files and the mark that ends access. */
    function fileComes(andThen = () => {}): void {
      let came = false
      change = (bucket) => ({
        async *list(prefix) {
          yield* bucket.list(prefix)
          if (came) return
          came = true
          await uploadOne(other, { name: 'a.png', bytes: png })
          andThen()
        },
      })
      // The index is asked after the bucket, and knows of it by then: the file has to come after both.
      const { index } = service.storage
      const { list } = index
      index.list = async function* () {
        index.list = list
        yield* []
      }
    }

    async function hasAccess(): Promise<boolean> {
      const { status } = await postFiles(other, [])
      return status !== 401
    }

    async function objectsOf(id: string): Promise<string[]> {
      return (await service.objects()).filter((name) => name.startsWith(`${id}/`))
    }

    async function stateOf(id: string): Promise<string | undefined> {
      const { answer } = await command(service, 'client list')
      return (answer as unknown as Array<{ id: string; state: string }>).find((one) => one.id === id)?.state
    }

    const itTried = backend === EMBEDDED ? itLong : it
    itTried('removes its access, all its files and its record, and nothing of others', async () => {
      const mine = await stored(other)
      await stored(other)
      const first = await stored(service)
      expect((await remove(other.id, true)).answer).to.deep.equal({ originals: 2 })
      expect(await hasAccess()).to.equal(false)
      expect((await fetch(mine.url)).status).to.equal(404)
      expect(await stateOf(other.id)).to.equal(undefined)
      expect(await objectsOf(other.id)).to.deep.equal([])
      expect(await listOf(service.storage.index, other.id)).to.deep.equal({})
      expect((await fetch(`${first.url}?w=10`)).status).to.equal(200)
      expect((await command(service, 'check')).findings).to.deep.equal([])
    })

    it('ends its access before the first file is deleted, and continues after an abort', async () => {
      const { key, url } = await stored(other)
      let access: boolean | undefined
      change = () => ({
        async delete() {
          access = await hasAccess()
          throw new Error('the bucket is away')
        },
      })
      await rejection(remove(other.id, true))
      expect(access).to.equal(false)
      expect(await stateOf(other.id)).to.equal('removing')
      expect((await objectsOf(other.id)).some((name) => name.endsWith(key))).to.equal(true)
      expect((await fetch(url)).status).to.equal(404)
      change = () => ({})
      // It has been asked for the files before.
      expect((await remove(other.id)).answer).to.deep.equal({ originals: 1 })
      expect(await stateOf(other.id)).to.equal(undefined)
      expect(await objectsOf(other.id)).to.deep.equal([])
    })

    if (backend === EMBEDDED) {
      it('completes at once without files', async () => {
        expect((await remove(other.id)).answer).to.deep.equal({ originals: 0 })
        expect(await hasAccess()).to.equal(false)
        expect(await rejection(remove(other.id)))
          .to.be.instanceOf(Problem)
          .with.property('status', 404)
      })

      it('is refused when it has files, without permission to delete them', async () => {
        const { url } = await stored(other)
        expect(await rejection(remove(other.id)))
          .to.be.instanceOf(Problem)
          .with.property('status', 409)
        expect(await hasAccess()).to.equal(true)
        expect((await fetch(url)).status).to.equal(200)
        expect(await stateOf(other.id)).to.equal('active')
      })

      it('is taken back when files are added without permission to delete them', async () => {
        fileComes()
        expect(await rejection(remove(other.id))).to.have.property('status', 409)
        expect(await objectsOf(other.id)).to.have.length(2)
        expect(await hasAccess()).to.equal(true)
        expect(await stateOf(other.id)).to.equal('active')
      })

      it('is not taken back by a call without permission next to a call with it', async () => {
        const deleting = signalled()
        const quietEnd = signalled()
        let loud: ReturnType<typeof remove> | undefined
        fileComes()
        const filesCome = change
        let looks = 0
        change = (bucket) => ({
          async *list(prefix) {
            looks += 1
            // The quiet one looks again, and is to find what the loud one has not deleted yet.
            if (looks === 2) {
              loud = remove(other.id, true)
              await deleting.promise
            }
            yield* filesCome(bucket).list?.(prefix) ?? []
          },
          async delete(keys) {
            deleting.signal()
            await quietEnd.promise
            return bucket.delete(keys)
          },
        })
        expect(await rejection(remove(other.id))).to.have.property('status', 409)
        expect(await hasAccess()).to.equal(false)
        expect(await stateOf(other.id)).to.equal('removing')
        quietEnd.signal()
        expect((await loud)?.answer).to.deep.equal({ originals: 1 })
        expect(await objectsOf(other.id)).to.deep.equal([])
      })

      it('ends without deleting any file when another call has taken it back', async () => {
        const records = service.storage.buckets.of({ id: 'first', token: '' })
        const record = clientRecordKey(other.id)
        let looks = 0
        change = (bucket) => ({
          async *list(prefix) {
            looks += 1
            if (looks === 2) {
              const asset = await records.find(record)
              if (!asset) throw new Error('no record')
              const { removing: _, ...active } = JSON.parse(String(await readAll(asset)))
              const bytes = Readable.from([Buffer.from(JSON.stringify(active))])
              await records.put(record, bytes, { mediaType: 'application/json' })
            }
            yield* bucket.list(prefix)
          },
        })
        expect(await rejection(remove(other.id))).to.have.property('status', 409)
        expect(await stateOf(other.id)).to.equal('active')
        expect(await hasAccess()).to.equal(true)
      })

      it('deletes no files without permission when it continues after a crash', async () => {
        const dataDir = await temporaryFolder()
        const before = await start({ dataDir })
        const client = await newClient(before)
        const { src } = await uploadOne(client, { name: 'a.png', bytes: png })
        await before.stop({ keepData: true })
        // As a process leaves it that is killed between the mark and the second look, the file having come in between.
        const file = join(dataDir, 'bucket', 'first', '.sluice', 'clients', `${client.id}.json`)
        const record = JSON.parse(await readFile(file, 'utf8'))
        await writeFile(file, JSON.stringify({ ...record, removing: { files: false } }))
        const after = await start({ dataDir })
        const get = async () => (await fetch(`${after.url}${new URL(src).pathname}`)).status
        expect(await get()).to.equal(404)
        expect(await rejection(command(after, 'client remove', { id: client.id, files: false })))
          .to.be.instanceOf(Problem)
          .with.property('status', 409)
        expect(await get()).to.equal(200)
        await after.stop()
      })

      it('is taken back when its operator disconnects before files may be deleted', async () => {
        const abort = new AbortController()
        fileComes(() => abort.abort(new Error('Ctrl-C')))
        const run = { signal: abort.signal, report: async () => {} }
        const work = service.app.commands['client remove']?.({ id: other.id, files: false }, run)
        expect(await rejection(work as Promise<unknown>)).to.have.property('message', 'Ctrl-C')
        expect(await stateOf(other.id)).to.equal('active')
        expect(await objectsOf(other.id)).to.have.length(2)
      })

      it('is refused for the first client, with or without files', async () => {
        for (const files of [false, true])
          expect(await rejection(remove('first', files)))
            .to.be.instanceOf(Problem)
            .with.property('status', 409)
        expect(await stateOf('first')).to.equal('active')
      })

      it('deletes the leftovers of failed uploads and deletes as well', async () => {
        const bucket = service.storage.buckets.of({ id: other.id, token: '' })
        const key = storedKey('image/png/1111111111111111111111.png')
        const others = storedKey('image/png/2222222222222222222222.png')
        for (const each of [key, derivativeKey(others, 'w=1'), recordKey(others)])
          await bucket.put(each, Readable.from([Buffer.from('x')]), { mediaType: 'image/png' })
        expect(await rejection(remove(other.id))).to.have.property('status', 409)
        expect((await remove(other.id, true)).answer).to.deep.equal({ originals: 0 })
        expect(await objectsOf(other.id)).to.deep.equal([])
      })

      it('deletes the files of a client whose record is missing, with permission', async () => {
        await stored(other)
        const records = service.storage.buckets.of({ id: 'first', token: '' })
        await records.delete([clientRecordKey(other.id)])
        // Reads it again, as all processes do in time.
        await rejection(command(service, 'client rotate', { id: other.id, keepOldMs: 0 }))
        const { findings } = await command(service, 'check')
        expect(new Set(findings.map((one) => one.split(':')[0]))).to.deep.equal(new Set(['client unknown']))
        const refusals = [remove(other.id), remove(`./${other.id}`, true)]
        for (const refusal of refusals)
          expect(await rejection(refusal))
            .to.be.instanceOf(Problem)
            .with.property('status', 404)
        expect((await remove(other.id, true)).answer).to.deep.equal({ originals: 1 })
        expect(await objectsOf(other.id)).to.deep.equal([])
        expect((await command(service, 'check')).findings).to.deep.equal([])
        expect(await rejection(remove(other.id, true))).to.have.property('status', 404)
      })

      it('waits for an upload, which then stores nothing', async () => {
        let removal: Promise<unknown> | undefined
        change = (bucket) => ({
          async put(key, bytes, options) {
            if (key.startsWith('.sluice/meta/')) {
              removal = remove(other.id, true)
              await eventually(async () => expect(await stateOf(other.id)).to.equal('removing'))
            }
            return bucket.put(key, bytes, options)
          },
        })
        const response = await postFiles(other, [{ name: 'a.png', bytes: png }])
        expect(response.status).to.equal(401)
        await removal
        expect(await stateOf(other.id)).to.equal(undefined)
        expect(await objectsOf(other.id)).to.deep.equal([])
        expect(await listOf(service.storage.index, other.id)).to.deep.equal({})
      })

      it('aborts when its operator disconnects, and continues at the next call', async () => {
        await stored(other)
        const abort = new AbortController()
        change = (bucket) => ({
          async delete(keys) {
            abort.abort(new Error('Ctrl-C'))
            return bucket.delete(keys)
          },
        })
        const run = { signal: abort.signal, report: async () => {} }
        const work = service.app.commands['client remove']?.({ id: other.id, files: true }, run)
        expect(await rejection(work as Promise<unknown>)).to.have.property('message', 'Ctrl-C')
        expect(await stateOf(other.id)).to.equal('removing')
        await remove(other.id)
        expect(await stateOf(other.id)).to.equal(undefined)
      })
    }
  })

function signalled() {
  let signal = () => {}
  const promise = new Promise<void>((done) => {
    signal = done
  })
  return { promise, signal }
}
