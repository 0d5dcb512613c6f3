import { rm } from 'node:fs/promises'
import { expect } from 'chai'
import { recordKey, storedKey } from '../../../src/core/files/object-key.ts'
import { unavailable } from '../../../src/core/problem.ts'
import { onTwoBackends, stoppedAfterEach } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { deleteFile, newClient, uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { longOnce, usuallyOnce } from '../../support/sized.ts'
import { storedState } from '../../support/stored/state.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

onTwoBackends('stored data of a file', (startAnother, backend, itOnce) => {
  const itUsuallyOnce = usuallyOnce(itOnce)
  const itLongOnce = longOnce(itOnce)
  const start = stoppedAfterEach(startAnother)
  let dataDir: string
  beforeEach(async () => {
    dataDir = await temporaryFolder()
  })
  afterEach(() => rm(dataDir, { recursive: true, force: true }))

  it('is the original, its derivatives and its record, and nothing else', async () => {
    const service = await start({ dataDir })
    const record = await uploadOne(service, { name: 'a.png', bytes: await picture() }, { path: 'a/b' })
    for (const query of ['w=10', 'width=10', 'f=jpg&h=20']) await exchange(service, `${record.src}?${query}`)
    await service.stop({ keepData: true })
    expect(await backend.state(dataDir)).to.deep.equal(
      storedState('first', { [record.s3PathOriginal]: ['w=10', 'f=jpeg&h=20'] }),
    )
  })

  itLongOnce('is found again after a restart', async () => {
    const first = await start({ dataDir })
    const other = await newClient(first)
    const mine = await uploadOne(first, { name: 'größe.png', bytes: await picture() }, { path: 'a/b' })
    const theirs = await uploadOne(other, { name: 'b.txt', bytes: 'theirs' })
    const before = await exchange(first, `${mine.src}?w=10`)
    await first.stop({ keepData: true })

    const second = await start({ dataDir })
    expect(second.tokens).to.deep.equal(first.tokens)
    const after = await exchange(second, `${mine.src.slice(first.url.length)}?w=10`)
    for (const name of ['etag', 'last-modified', 'content-type'])
      expect(after.headers[name], name).to.equal(before.headers[name])
    expect(after.body.equals(before.body)).to.equal(true)
    expect((await exchange(second, theirs.src.slice(first.url.length))).body.toString()).to.equal('theirs')
    expect((await deleteFile({ url: second.url, tokens: other.tokens }, theirs.s3Path)).status).to.equal(200)
  })

  itUsuallyOnce('is delivered when the index is empty and refuses writes', async () => {
    const first = await start({ dataDir })
    const { src } = await uploadOne(first, { name: 'a.txt', bytes: 'kept' })
    await first.stop({ keepData: true })
    await backend.emptyIndex(dataDir)
    const full = async () => {
      throw unavailable('there is no room')
    }
    const second = await start({
      dataDir,
      wrapStorage: ({ buckets, index }) => ({ buckets, index: { ...index, adopt: full } }),
    })
    const answer = await exchange(second, src.slice(first.url.length))
    expect({ status: answer.status, text: answer.body.toString() }).to.deep.equal({
      status: 200,
      text: 'kept',
    })
  })

  itUsuallyOnce('is found again, unchanged, after the index was emptied', async () => {
    const first = await start({ dataDir })
    const inFolder = await uploadOne(first, { name: 'größe.png', bytes: await picture() }, { path: 'a/b' })
    const text = await uploadOne(first, { name: 'b.csv', bytes: 'a,b\n' })
    const gone = await uploadOne(first, { name: 'c.txt', bytes: 'c' })
    await exchange(first, `${inFolder.src}?w=10`)
    await deleteFile(first, gone.s3Path)
    const path = (record: { src: string }) => record.src.slice(first.url.length)
    const before = [
      await exchange(first, `${path(inFolder)}?download`),
      await exchange(first, path(text)),
      await exchange(first, `${path(inFolder)}?w=10`),
    ]
    await first.stop({ keepData: true })
    await backend.emptyIndex(dataDir)

    const second = await start({ dataDir })
    const after = [
      await exchange(second, `${path(inFolder)}?download`),
      await exchange(second, path(text)),
      await exchange(second, `${path(inFolder)}?w=10`),
    ]
    for (const [i, { status, headers, body }] of after.entries()) {
      expect(status).to.equal(200)
      for (const name of ['etag', 'last-modified', 'content-type', 'content-disposition'])
        expect(headers[name], name).to.equal(before[i]?.headers[name])
      expect(body.equals(before[i]?.body as Buffer)).to.equal(true)
    }
    expect((await exchange(second, path(gone))).status).to.equal(404)
    await second.stop({ keepData: true })
    await backend.emptyIndex(dataDir)

    // A delete, too, finds what no index knows of, derivatives included.
    const third = await start({ dataDir })
    const removed = await deleteFile(third, inFolder.s3Path)
    expect(await removed.json()).to.deep.equal({ s3PathOriginal: inFolder.s3Path, derivatives: 1 })
    expect((await deleteFile(third, text.sourceName)).status).to.equal(200)
    expect(await third.objects()).to.deep.equal([])
  })

  itUsuallyOnce('has no file that is in the bucket without a record', async () => {
    const service = await start({ dataDir })
    const record = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    await service.storage.buckets
      .of({ id: 'first', token: '' })
      .delete([recordKey(storedKey(record.s3PathOriginal))])
    await service.stop({ keepData: true })
    await backend.emptyIndex(dataDir)
    const second = await start({ dataDir })
    expect((await exchange(second, record.src.slice(service.url.length))).status).to.equal(404)
  })
})
