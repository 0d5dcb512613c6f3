import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import type { Asset } from '../../../src/core/bytes/asset.ts'
import { FIRST_CLIENT_ID } from '../../../src/core/clients/client.ts'
import {
  derivativeKey,
  isRecords,
  type ObjectKey,
  recordKey,
  storedKey,
} from '../../../src/core/files/object-key.ts'
import { serializeRecord } from '../../../src/service/originals/records.ts'
import { onOneOrTwoBackends } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { entriesOf, manifestOf } from '../../support/requests/archive.ts'
import { deleteFile, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { wrapBuckets } from '../../support/storage.ts'
import { noise } from '../../support/stored/noise.ts'
import { settled } from '../../support/stored/settled.ts'

const FIRST = { id: FIRST_CLIENT_ID, token: '' }
// Not read at once.
const LARGE = 600_000

onOneOrTwoBackends('files without a checksum, in links to archives', (start, _, itOnce) => {
  let service: Service
  /** Called once, before the whole of this object is opened. */
  let beforeOpen: { key: ObjectKey; work: () => Promise<void> } | undefined
  const opened: ObjectKey[] = []
  const watched = (key: ObjectKey, asset: Asset): Asset => ({
    ...asset,
    async open(options) {
      if (!options?.range && !isRecords(key.split('/')[0])) opened.push(key)
      if (options?.range || beforeOpen?.key !== key) return asset.open(options)
      const { work } = beforeOpen
      beforeOpen = undefined
      await work()
      return asset.open(options)
    },
  })
  before(async () => {
    service = await start({
      env: { ZIP_RATE_LIMIT: '0' },
      wrapStorage: wrapBuckets((bucket) => ({
        async find(key, known) {
          const asset = await bucket.find(key, known)
          return asset && watched(key, asset)
        },
      })),
    })
  })
  const bucket = () => service.storage.buckets.of(FIRST)
  const refOf = ({ s3PathOriginal }: WireRecord) => ({ clientId: FIRST.id, key: storedKey(s3PathOriginal) })
  async function originalOf(file: WireRecord) {
    const { original } = await service.storage.index.find(refOf(file))
    return original?.state === 'stored' ? original.record : undefined
  }
  async function derivativeOf(file: WireRecord, variant: string) {
    const ref = refOf(file)
    const { derivative } = await service.storage.index.find(ref, derivativeKey(ref.key, variant))
    return derivative?.state === 'stored' ? derivative.record : undefined
  }

  /** Uploads a file, and removes the checksum from its records, as if an older version had stored it. @returns also the checksum */
  async function uploaded(name: string, bytes: Buffer): Promise<WireRecord & { crc32: number }> {
    const file = await uploadOne(service, { name, bytes })
    const known = await originalOf(file)
    if (known?.crc32 === undefined) throw new Error('expected a checksum of an upload')
    const { crc32, ...older } = known
    const text = Readable.from([serializeRecord(older)])
    await bucket().put(recordKey(older.key), text, { mediaType: 'application/json' })
    expect(await service.storage.index.amend(FIRST.id, known, older)).to.equal(true)
    return { ...file, crc32 }
  }

  /** Renders a derivative, and indexes it again without its checksum. @returns the checksum */
  async function rendered(file: WireRecord, width: number): Promise<number> {
    await exchange(service, `${new URL(file.src).pathname}?w=${width}`)
    await settled(service)
    const { crc32, ...older } = (await derivativeOf(file, `w=${width}`)) ?? {}
    if (crc32 === undefined) throw new Error('expected a checksum of a derivative')
    await service.storage.index.finishDerivative(refOf(file), older as never)
    return crc32
  }

  const post = (path: string, files: readonly object[]) =>
    exchange(service, path, {
      method: 'POST',
      headers: { Authorization: service.tokens.secretClientToken, 'Content-Type': 'application/json' },
      body: JSON.stringify({ files }),
    })
  async function link(files: readonly object[]): Promise<string> {
    return new URL((jsonOf(await post('/v1/zip/links', files)) as { url: string }).url).pathname
  }
  const itemOf = (file: WireRecord, more = {}) => ({ path: file.sourceName, type: file.mimeType, ...more })

  it('are read once, when the link is requested, and have a checksum from then on', async () => {
    const photo = await uploaded('a.png', await picture())
    const large = await uploaded('a.bin', noise(LARGE))
    const crc32 = await rendered(photo, 21)
    const files = [itemOf(photo), itemOf(photo, { params: { w: 21 }, name: 'small.png' }), itemOf(large)]
    opened.length = 0
    const path = await link(files)
    expect(opened).to.have.length(3)
    expect([await originalOf(photo), await originalOf(large)].map((one) => one?.crc32)).to.deep.equal([
      photo.crc32,
      large.crc32,
    ])
    expect((await derivativeOf(photo, 'w=21'))?.crc32).to.equal(crc32)
    const { headers, body } = await exchange(service, path)
    expect(headers['content-length']).to.equal(String(body.length))
    const rest = await exchange(service, path, { headers: { Range: 'bytes=1000-' } })
    expect([rest.status, rest.body.equals(body.subarray(1000))]).to.deep.equal([206, true])
    // The record in the bucket has it too: it survives a reindex.
    const record = await bucket().find(recordKey(refOf(large).key))
    const text = await record?.open().then((bytes) => bytes.toArray())
    expect(JSON.parse(String(text))).to.include({ crc32: large.crc32 })
  })

  itOnce('get one while an archive of them is sent', async () => {
    const photo = await uploaded('b.png', await picture())
    const crc32 = await rendered(photo, 22)
    const large = await uploaded('b.gz', Buffer.concat([Buffer.from([31, 139, 8]), randomBytes(1_200_000)]))
    const files = [itemOf(photo), itemOf(photo, { params: { w: 22 }, name: 'small.png' }), itemOf(large)]
    const first = await post('/v1/zip', files)
    expect(first.headers).not.to.have.property('content-length')
    expect([(await originalOf(photo))?.crc32, (await originalOf(large))?.crc32]).to.deep.equal([
      photo.crc32,
      large.crc32,
    ])
    expect((await derivativeOf(photo, 'w=22'))?.crc32).to.equal(crc32)
    const second = await post('/v1/zip', files)
    expect(second.headers['content-length']).to.equal(String(second.body.length))
  })

  it('get none when they are deleted while they are read, and remain deleted', async () => {
    const file = await uploaded('c.bin', noise(LARGE))
    const { key } = refOf(file)
    beforeOpen = { key, work: () => deleteFile(service, file.s3PathOriginal) as Promise<never> }
    const path = await link([itemOf(file)])
    expect(beforeOpen).to.equal(undefined)
    expect(await bucket().find(recordKey(key))).to.equal(undefined)
    expect((await service.storage.index.find({ clientId: FIRST.id, key })).original).to.equal(undefined)
    const [entry] = manifestOf(entriesOf((await exchange(service, path)).body))
    expect(entry).to.include({ status: 'error', code: 404 })
  })

  itOnce('get none when their bytes are not those of the record', async () => {
    const file = await uploaded('d.bin', noise(LARGE))
    const { key } = refOf(file)
    await bucket().put(key, Readable.from([randomBytes(LARGE)]), { mediaType: 'application/octet-stream' })
    const { headers } = await exchange(service, await link([itemOf(file)]))
    expect(headers).not.to.have.property('content-length')
    expect(await originalOf(file)).not.to.have.property('crc32')
  })

  itOnce('get none when a derivative is replaced while it is read', async () => {
    const photo = await uploaded('e.png', await picture())
    await rendered(photo, 23)
    const known = await derivativeOf(photo, 'w=23')
    if (!known) throw new Error('expected a derivative')
    const { key, mediaType, size } = known
    const replace = async () => bucket().put(key, Readable.from([randomBytes(size)]), { mediaType })
    beforeOpen = { key, work: replace }
    await link([itemOf(photo, { params: { w: 23 } })])
    expect(beforeOpen).to.equal(undefined)
    expect(await derivativeOf(photo, 'w=23')).to.deep.equal(known)
  })

  itOnce('are read once for several links that are requested at the same time', async () => {
    const large = await uploaded('f.bin', noise(LARGE))
    opened.length = 0
    await Promise.all([link([itemOf(large)]), link([itemOf(large)]), link([itemOf(large)])])
    expect(opened).to.deep.equal([refOf(large).key])
  })
})
