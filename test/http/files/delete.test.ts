import { rm } from 'node:fs/promises'
import { expect } from 'chai'
import type { ObjectKey } from '../../../src/core/files/object-key.ts'
import { EMBEDDED } from '../../support/backend.ts'
import { isOneOfTwo, onTwoOrEveryBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { watchedEngine } from '../../support/media/engines.ts'
import { picture } from '../../support/media/images.ts'
import { deleteFile, newClient, rawPath, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { itLong, sized, usuallyOnce } from '../../support/sized.ts'
import { wrapBuckets } from '../../support/storage.ts'
import { settled } from '../../support/stored/settled.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

onTwoOrEveryBackend('DELETE of a file', (start, backend, itOnce) => {
  const itUsuallyOnce = usuallyOnce(itOnce)
  let service: Service
  let png: Buffer
  before(async () => {
    png = await picture()
    service = await start()
  })

  async function withDerivatives(queries: string[], options = {}): Promise<WireRecord> {
    const record = await uploadOne(service, { name: 'a.png', bytes: png }, options)
    for (const query of queries) await exchange(service, `${record.src}?${query}`)
    await settled(service)
    expect(await objectsOf(record)).to.have.length(queries.length + 2)
    return record
  }

  /** Everything in the bucket that has to do with a file: its bytes, derivatives and record. */
  async function objectsOf({ sourceName }: WireRecord): Promise<string[]> {
    return (await service.objects()).filter((name) => name.includes(sourceName))
  }

  function indexed(key: string) {
    return service.storage.index.find(
      { clientId: 'first', key: key as ObjectKey },
      `${key}_w=10` as ObjectKey,
    )
  }

  it('removes original, derivatives, record and index entries, and lists what was deleted', async () => {
    const record = await withDerivatives(['w=10', 'w=20', 'w=30&f=webp'])
    expect((await objectsOf(record)).some((name) => name.includes('.sluice/meta/'))).to.equal(true)
    const response = await deleteFile(service, record.s3PathOriginal)
    expect(response.status).to.equal(200)
    expect(response.headers.get('cache-control')).to.equal('no-store')
    expect(await response.json()).to.deep.equal({ s3PathOriginal: record.s3PathOriginal, derivatives: 3 })
    expect(await objectsOf(record)).to.deep.equal([])
    expect(await indexed(record.s3PathOriginal)).to.deep.equal({})
    for (const address of [
      record.src,
      `${record.src}?w=10`,
      `${record.src}?w=11`,
      rawPath(service, record.s3PathOriginal),
      rawPath(service, `${record.s3PathOriginal}_w=10`),
    ]) {
      const answer = await exchange(service, address)
      expect({ status: answer.status, code: jsonOf(answer).code }, address).to.deep.equal({
        status: 404,
        code: 'file_not_found',
      })
    }
  })

  itLong(
    'finds derivatives that only the bucket knows when the index may have lost them, and none of another file',
    async () => {
      const record = await withDerivatives(['w=10'], { path: 'x' })
      const neighbour = await withDerivatives(['w=10'], { path: 'x' })
      const bucket = service.storage.buckets.of({ id: 'first', token: '' })
      const known = await bucket.find(record.s3PathOriginal as ObjectKey)
      if (!known) throw new Error('the original is gone')
      const unknown = `${record.s3PathOriginal}_q=1&w=99` as ObjectKey
      await bucket.put(unknown, await known.open(), { mediaType: 'image/png' })
      await service.storage.index.noteCompared('another run')
      const response = await deleteFile(service, record.s3PathOriginal)
      expect(await response.json()).to.include({ derivatives: 2 })
      expect(await objectsOf(record)).to.deep.equal([])
      expect(await objectsOf(neighbour)).to.have.length(3)
      expect((await exchange(service, neighbour.src)).status).to.equal(200)
    },
  )

  itUsuallyOnce(
    'responds 200 to one of two concurrent deletes and 200 or 404 to the other, without failures',
    async () => {
      for (let i = 0; i < sized(2, 5); i += 1) {
        const record = await withDerivatives(['w=10'])
        const responses = await Promise.all(
          Array.from({ length: 4 }, () => deleteFile(service, record.s3PathOriginal)),
        )
        const statuses = responses.map(({ status }) => status)
        expect(statuses).to.include(200)
        for (const status of statuses) expect(status).to.be.oneOf([200, 404])
        expect(await objectsOf(record)).to.deep.equal([])
        expect(await indexed(record.s3PathOriginal)).to.deep.equal({})
      }
    },
  )

  itUsuallyOnce('responds 503 when the bucket does not delete, and continues on retry', async () => {
    let failing = true
    const stubborn = await start({
      wrapStorage: wrapBuckets((bucket) => ({
        async delete(keys) {
          if (!failing) return bucket.delete(keys)
          const derivatives = keys.filter((key) => key.includes('_w='))
          await bucket.delete(keys.filter((key) => !derivatives.includes(key)))
          return { failed: derivatives.map((key) => ({ key, error: new Error('EIO') })) }
        },
      })),
    })
    const record = await uploadOne(stubborn, { name: 'a.png', bytes: png })
    await exchange(stubborn, `${record.src}?w=10`)
    const stored = `first/${record.s3PathOriginal}_w=10`
    await eventually(async () => expect(await stubborn.objects()).to.include(stored))
    const refused = await deleteFile(stubborn, record.s3PathOriginal)
    expect(refused.status).to.equal(503)
    expect(Number(refused.headers.get('retry-after'))).to.be.above(0)
    // The delete is in progress: the file is not delivered, though some of it still exists.
    const derivative = rawPath(stubborn, `${record.s3PathOriginal}_w=10`)
    for (const address of [record.src, `${record.src}?w=10`, derivative])
      expect((await exchange(stubborn, address)).status, address).to.equal(404)
    failing = false
    expect((await deleteFile(stubborn, record.s3PathOriginal)).status).to.equal(200)
    expect(await stubborn.objects()).to.deep.equal([])
    expect((await deleteFile(stubborn, record.s3PathOriginal)).status).to.equal(404)
  })

  itUsuallyOnce('prevents new transformations as soon as it begins', async () => {
    const watched = watchedEngine()
    let late = true
    const racing = await start({
      engines: [watched.engine],
      wrapStorage: ({ buckets, index }) => ({
        buckets,
        index: {
          ...index,
          async beginDerivative(ref, derivative, deadline) {
            // Between the read of the original and this step, another process has begun to delete it.
            if (late)
              await index.beginRemoval(ref, { cause: 'delete', leaseUntil: Date.now() + 60_000, now: 0 })
            return index.beginDerivative(ref, derivative, deadline)
          },
        },
      }),
    })
    const record = await uploadOne(racing, { name: 'a.png', bytes: png })
    const answer = await exchange(racing, `${record.src}?w=10`)
    expect({ status: answer.status, code: jsonOf(answer).code }).to.deep.equal({
      status: 404,
      code: 'file_not_found',
    })
    expect(watched.opened).to.equal(0)
    late = false
    expect((await deleteFile(racing, record.s3PathOriginal)).status).to.equal(200)
    expect(await racing.objects()).to.deep.equal([])
  })

  describe('during transformations', function () {
    this.timeout(sized(30_000, 60_000))
    const rounds = sized(backend === EMBEDDED ? 5 : 3, 20)

    it(`leaves nothing in ${rounds} rounds of ${rounds} transformations`, async () => {
      const seen = new Set<number>()
      // Until both sides of the race were seen.
      for (let round = 0; round < rounds || seen.size < 2; round += 1) {
        const record = await uploadOne(service, { name: 'a.png', bytes: png })
        const transform = (i: number) => exchange(service, `${record.src}?w=${i + 1}&h=${round + 1}`)
        const remove = () => deleteFile(service, record.s3PathOriginal)
        // Before all of them in the first round, and after one more in each: some of them are stored by then, or being stored, or
        // rendered, or wait.
        let removed = round % rounds === 0 ? remove() : undefined
        let answered = 0
        const transforms = Array.from({ length: rounds }, async (_, i) => {
          const { status } = await transform(i)
          answered += 1
          if (answered === round % rounds) removed = remove()
          return status
        })
        for (const status of await Promise.all(transforms)) {
          expect(status).to.be.oneOf([200, 404])
          seen.add(status)
        }
        expect((await removed)?.status).to.equal(200)
        await eventually(async () => {
          expect(await objectsOf(record)).to.deep.equal([])
          expect(await indexed(record.s3PathOriginal)).to.deep.equal({})
        })
      }
    })
  })

  // The rest does not depend on the combination of bucket and index.
  if (!isOneOfTwo(backend)) return

  itUsuallyOnce('responds 404 the second time', async () => {
    const record = await withDerivatives(['w=10'])
    expect((await deleteFile(service, record.s3PathOriginal)).status).to.equal(200)
    for (let i = 0; i < 2; i += 1) {
      const response = await deleteFile(service, record.s3PathOriginal)
      expect(response.status).to.equal(404)
      expect(((await response.json()) as { code: string }).code).to.equal('file_not_found')
    }
  })

  itOnce('accepts every spelling that delivery accepts', async () => {
    const inFolder = await withDerivatives(['w=10'], { path: 'größe/b c' })
    const plain = await withDerivatives(['w=10'])
    for (const [path, record] of [
      [`größe/b c/${inFolder.sourceName}`, inFolder],
      [plain.sourceName, plain],
    ] as const) {
      const response = await deleteFile(service, path)
      expect(await response.json()).to.deep.equal({ s3PathOriginal: record.s3PathOriginal, derivatives: 1 })
      expect(await objectsOf(record)).to.deep.equal([])
    }
  })

  itOnce('responds 404 to a derivative, which remains', async () => {
    const record = await withDerivatives(['w=10'])
    const response = await deleteFile(service, `${record.s3PathOriginal}_w=10`)
    expect(response.status).to.equal(404)
    expect(await objectsOf(record)).to.have.length(3)
    const raw = await exchange(service, rawPath(service, `${record.s3PathOriginal}_w=10`))
    expect(raw.status).to.equal(200)
  })

  itOnce('responds 404 to a file of another client, which remains', async () => {
    const other = await newClient(service)
    const record = await withDerivatives(['w=10'])
    for (const path of [record.s3PathOriginal, record.sourceName, `${record.s3PathOriginal}_w=10`])
      expect((await deleteFile(other, path)).status, path).to.equal(404)
    expect(await objectsOf(record)).to.have.length(3)
  })

  itOnce('responds 404 to a file that never existed, and 400 to an invalid path', async () => {
    for (const path of ['nothing.png', 'image/png/1111111111111111111111.png', '.sluice/clients/first.json'])
      expect((await deleteFile(service, path)).status, path).to.equal(404)
    const headers = { Authorization: service.tokens.secretClientToken }
    for (const path of ['../first/x', '..%2ffirst%2fx', 'a//b', 'a%5cb', '.', 'a%00', '%2e%2e/x', '%ff'])
      expect(
        (await exchange(service, `/v1/upload/${path}`, { method: 'DELETE', headers })).status,
        path,
      ).to.equal(400)
  })

  itOnce('responds 405 with Allow to other methods', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'GET', 'OPTIONS']) {
      const { status, headers } = await exchange(service, '/v1/upload/image/png/x.png', { method })
      expect({ status, allow: headers.allow }, method).to.deep.equal({ status: 405, allow: 'DELETE' })
    }
  })
})

onTwoOrEveryBackend('DELETE of a file, followed by a graceful shutdown', (start, backend) => {
  it('leaves nothing in bucket and index after transformations', async () => {
    const dataDir = await temporaryFolder()
    const service = await start({ dataDir })
    const png = await picture()
    for (let round = 0; round < sized(2, 5); round += 1) {
      const record = await uploadOne(service, { name: 'a.png', bytes: png }, { path: 'some/folder' })
      const transforms = Array.from({ length: sized(6, 20) }, (_, i) =>
        exchange(service, `${record.src}?w=${i + 1}`),
      )
      await transforms[round]
      await deleteFile(service, record.s3PathOriginal)
      await Promise.all(transforms)
    }
    await service.stop({ keepData: true })
    expect(await backend.state(dataDir)).to.deep.equal({ files: [], rows: [] })
    await rm(dataDir, { recursive: true })
  })
})
