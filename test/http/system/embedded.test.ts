import { readFile, rename, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { stoppedAfterEach } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { rejection } from '../../support/rejection.ts'
import { postZip, uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { startService } from '../../support/service.ts'
import { everyNth } from '../../support/sized.ts'
import { wrapBuckets } from '../../support/storage.ts'
import { noise } from '../../support/stored/noise.ts'
import { settled } from '../../support/stored/settled.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

describe('the service on a disk', () => {
  const start = stoppedAfterEach(startService)
  let dataDir: string
  beforeEach(async () => {
    dataDir = await temporaryFolder()
  })
  afterEach(() => rm(dataDir, { recursive: true, force: true }))

  it('renders a derivative again when its file was removed from the disk', async () => {
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

  it('returns the time of the upload, whatever the modification times of copied files are', async () => {
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

  for (const [what, path] of everyNth(3, [
    ['a client', join('bucket', 'first', '.sluice', 'clients', 'x.json')],
    ['its credentials', 'credentials.json'],
    ['its jobs', join('jobs', 'CURRENT')],
  ] as const))
    it(`releases its folder when it cannot read ${what}`, async () => {
      const first = await start({ dataDir })
      await first.stop({ keepData: true })
      const file = join(dataDir, path)
      const whole = await readFile(file).catch(() => undefined)
      await writeFile(file, 'broken')
      const error = await rejection(start({ dataDir }))
      expect(error).to.be.instanceOf(Error)
      expect((error as Error).message).not.to.include('in use')
      await (whole ? writeFile(file, whole) : rm(file))
      await start({ dataDir })
    })

  it('has compared its new index when it is ready, although the disk is slow', async () => {
    const service = await start({
      dataDir,
      wrapStorage: wrapBuckets((bucket) => ({
        ...bucket,
        async *listObjects(prefix, options) {
          await pause(50)
          yield* bucket.listObjects(prefix, options)
        },
      })),
    })
    expect(await service.storage.index.isWhole()).to.equal(true)
  })

  it('is not ready while the folder of the bucket is missing, as with an unmounted volume', async () => {
    const service = await start({ dataDir })
    const bucket = join(dataDir, 'bucket')
    await rename(bucket, `${bucket}-away`)
    const { status, body } = await exchange(service, '/readyz')
    await rename(`${bucket}-away`, bucket)
    expect(status).to.equal(503)
    expect(jsonOf({ body }).checks).to.include({ bucket: 'unavailable', index: 'ok', disk: 'ok' })
    expect(body.toString()).not.to.include(dataDir)
    expect((await exchange(service, '/readyz')).status).to.equal(200)
  })

  it('destroys the connection when a file is truncated after its size was read', async () => {
    let cut = ''
    const service = await start({
      dataDir,
      env: { ZIP_RATE_LIMIT: '100' },
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
    const archived = await uploadOne(service, { name: 'a.bin', bytes: noise(5_000_000) })
    cut = archived.s3Path
    const outcome = await postZip(service, { files: [{ path: archived.sourceName, type: 'application' }] })
      .then((response) => response.arrayBuffer())
      .catch((error) => error)
    expect(outcome).to.be.an.instanceOf(Error)

    const delivered = await uploadOne(service, { name: 'a.bin', bytes: noise(5_000_000) })
    cut = delivered.s3Path
    const error = await exchange(service, delivered.src).catch((one) => one)
    expect(error.code).to.equal('ECONNRESET')
    cut = ''
    expect((await exchange(service, '/healthz')).status).to.equal(200)
  })

  it('protects its files from other users of the machine', async () => {
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
