import { randomBytes } from 'node:crypto'
import { readFile, rm, stat, truncate, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { stoppedAtTheEnd } from '../support/backends.ts'
import { deleteFile, newClient, postZip, uploadOne } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { exchange } from '../support/exchange.ts'
import { picture } from '../support/images.ts'
import { startService } from '../support/service.ts'
import { settled } from '../support/settled.ts'
import { readState, storedState } from '../support/state.ts'
import { wrapBuckets } from '../support/storage.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

describe('the service on a disk', () => {
  const start = stoppedAtTheEnd(startService)
  let dataDir: string
  beforeEach(async () => {
    dataDir = await temporaryFolder()
  })
  afterEach(() => rm(dataDir, { recursive: true, force: true }))

  it('keeps an original, its derivatives beside it, and its record, and nothing else', async () => {
    const service = await start({ dataDir })
    const record = await uploadOne(service, { name: 'a.png', bytes: await picture() }, { path: 'a/b' })
    for (const query of ['w=10', 'width=10', 'f=jpg&h=20']) await exchange(service, `${record.src}?${query}`)
    await service.stop({ keepData: true })
    expect(await readState(dataDir)).to.deep.equal(
      storedState('first', { [record.s3PathOriginal]: ['w=10', 'f=jpeg&h=20'] }),
    )
  })

  it('makes a derivative again whose file somebody has removed', async () => {
    const service = await start({ dataDir })
    const record = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    const file = join(dataDir, 'bucket', 'first', `${record.s3PathOriginal}_w=10`)
    const first = await exchange(service, `${record.src}?w=10`)
    await settled(service)
    await rm(file)
    const again = await exchange(service, `${record.src}?w=10`)
    expect(again.status).to.equal(200)
    expect(again.body.equals(first.body)).to.equal(true)
    await eventually(async () => expect((await readFile(file)).equals(first.body)).to.equal(true))
  })

  it('tells of the date of the upload, whatever a copy of the files has made of theirs', async () => {
    const service = await start({ dataDir })
    const record = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    const addresses = [record.src, record.originalSrc, `${record.src}?w=10`, `${record.originalSrc}_w=10`]
    await exchange(service, `${record.src}?w=10`)
    await settled(service)
    for (const suffix of ['', '_w=10'])
      await utimes(join(dataDir, 'bucket', 'first', `${record.s3Path}${suffix}`), 0, 0)
    const dates = new Set<string>()
    for (const address of addresses)
      dates.add(String((await exchange(service, address)).headers['last-modified']))
    expect(dates.size).to.equal(1)
    expect(Date.parse([...dates][0] ?? '')).to.be.within(Date.now() - 60_000, Date.now())
  })

  it('finds everything again after a restart', async () => {
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

  it('finds originals again, as they were, when the index has been emptied', async () => {
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
    await rm(join(dataDir, 'index'), { recursive: true })

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
    await rm(join(dataDir, 'index'), { recursive: true })

    // A delete, too, finds what no index knows of, derivatives included.
    const third = await start({ dataDir })
    const removed = await deleteFile(third, inFolder.s3Path)
    expect(await removed.json()).to.deep.equal({ s3PathOriginal: inFolder.s3Path, derivatives: 1 })
    expect((await deleteFile(third, text.sourceName)).status).to.equal(200)
    expect(await third.objects()).to.deep.equal([])
  })

  it('gives no file that lies in the bucket without a record', async () => {
    const service = await start({ dataDir })
    const record = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    await service.stop({ keepData: true })
    await rm(join(dataDir, 'index'), { recursive: true })
    await rm(join(dataDir, 'bucket', 'first', '.sluice', 'meta'), { recursive: true })
    const second = await start({ dataDir })
    expect((await exchange(second, record.src.slice(service.url.length))).status).to.equal(404)
  })

  it('destroys the connection when a file is cut between the look at its size and the reading', async () => {
    let cut = ''
    const service = await start({
      dataDir,
      env: { ZIP_RATE_POINTS: '100' },
      wrapStorage: wrapBuckets((bucket, client) => ({
        find: async (key, known) => {
          const asset = await bucket.find(key, known)
          if (!asset || key !== cut) return asset
          return {
            ...asset,
            async open(options) {
              await truncate(join(dataDir, 'bucket', client.id, key), Math.floor(asset.size / 2))
              return asset.open(options)
            },
          }
        },
      })),
    })
    const archived = await uploadOne(service, { name: 'a.bin', bytes: randomBytes(5_000_000) })
    cut = archived.s3Path
    const outcome = await postZip(service, { files: [{ path: archived.sourceName, type: 'application' }] })
      .then((response) => response.arrayBuffer())
      .catch((error) => error)
    expect(outcome).to.be.an.instanceOf(Error)

    const delivered = await uploadOne(service, { name: 'a.bin', bytes: randomBytes(5_000_000) })
    cut = delivered.s3Path
    const error = await exchange(service, delivered.src, { signal: AbortSignal.timeout(2000) }).catch(
      (one) => one,
    )
    expect(error.code).to.equal('ECONNRESET')
    cut = ''
    expect((await exchange(service, '/healthz')).status).to.equal(200)
  })

  it('keeps its files from other users of the machine', async () => {
    const service = await start({ dataDir: join(dataDir, 'new') })
    const record = await uploadOne(service, { name: 'a.txt', bytes: 'x' }, { path: 'a' })
    const mode = async (...path: string[]) =>
      ((await stat(join(dataDir, 'new', ...path))).mode & 0o777).toString(8)
    expect(await mode()).to.equal('700')
    expect(await mode('credentials.json')).to.equal('600')
    expect(await mode('bucket', 'first', record.s3Path)).to.equal('600')
    expect(await mode('bucket', 'first', 'a')).to.equal('700')
  })
})
