import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { assetFromBytes } from '../../../src/core/bytes/asset.ts'
import type { Client } from '../../../src/core/clients/client.ts'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { createArchive } from '../../../src/service/archive/archive.ts'
import { createReadAhead } from '../../../src/service/archive/read-ahead.ts'
import { type ArchiveItem, createArchiveSources } from '../../../src/service/archive/sources.ts'
import type { Deliveries } from '../../../src/service/delivery/deliveries.ts'
import { eventually } from '../../support/eventually.ts'
import { rejection } from '../../support/rejection.ts'
import { entriesOf } from '../../support/requests/archive.ts'
import { TRUSTED } from '../../support/requests/callers.ts'
import { recordLog } from '../../support/service.ts'

const CLIENT = { id: 'first', token: 'pub_first' } as Client
const LARGE = 2 * 1024 * 1024

/** Deliveries of derivatives as large as their paths say, each in memory, as when it has just been made. */
function madeNow() {
  const told: string[] = []
  const deliveries = {
    async deliver({ path }: { path: string }) {
      told.push(`find ${path}`)
      const bytes = Buffer.alloc(Number(path), path)
      const asset = assetFromBytes(bytes, { mediaType: 'image/webp', lastModified: new Date(0) })
      return {
        key: storedKey(path),
        asset: {
          ...asset,
          open: async () => {
            told.push(`open ${path}`)
            return asset.open()
          },
        },
      }
    },
  } as unknown as Deliveries
  return { told, deliveries }
}

const newPiece = () => Buffer.allocUnsafeSlow(64 * 1024)

const itemsOf = (sizes: readonly number[]): ArchiveItem[] =>
  sizes.map((size, i) => ({
    group: 'image',
    path: String(size),
    requestedPath: String(size),
    query: [],
    name: `${i}`,
  }))

describe('an archive', () => {
  const sent: object[] = []
  const open = (deliveries: Deliveries, sizes: readonly number[]) =>
    createArchive({
      sources: createArchiveSources({
        deliveries,
        checksums: { observerOf: () => undefined },
        log: recordLog(),
      }),
      events: { emit: (_name: string, event: object) => sent.push(event) } as never,
      newReadAhead: createReadAhead({ maxBytes: 32 * 1024 * 1024 }),
    })({
      client: CLIENT,
      caller: TRUSTED,
      archiveName: 'a.zip',
      items: itemsOf(sizes),
      newPiece,
      signal: new AbortController().signal,
    })

  it('finds a large file again in its turn, so that a rendered one does not stay in memory', async () => {
    const { told, deliveries } = madeNow()
    const entries = entriesOf(await buffer(open(deliveries, [10, LARGE, LARGE + 1])))
    expect(entries.slice(0, 3).map(({ bytes }) => bytes.length)).to.deep.equal([10, LARGE, LARGE + 1])
    const large = told.filter((line) => !line.endsWith(' 10'))
    expect(large.slice(0, 2)).to.deep.equal([`find ${LARGE}`, `find ${LARGE + 1}`])
    expect(large.slice(2)).to.deep.equal([
      ...[`find ${LARGE}`, `open ${LARGE}`],
      ...[`find ${LARGE + 1}`, `open ${LARGE + 1}`],
    ])
    expect(told.filter((line) => line.endsWith(' 10'))).to.deep.equal(['find 10', 'open 10'])
  })

  it('reads ahead while there is memory, and releases it in each turn', async () => {
    const { told, deliveries } = madeNow()
    // Three times as much as all archives together may hold.
    const sizes = Array.from({ length: 100 }, () => 1_000_000)
    const entries = entriesOf(await buffer(open(deliveries, sizes)))
    expect(entries).to.have.length(101)
    // Nothing had to be found twice.
    expect(told.filter((line) => line.startsWith('find'))).to.have.length(100)
  })

  it('releases the memory of a file that cannot be read', async () => {
    const { told, deliveries } = madeNow()
    const broken = {
      async deliver(request: { path: string }) {
        const delivery = await deliveries.deliver(request as never)
        const open = () => Promise.reject(new Error('EIO'))
        return request.path === '999999' ? { ...delivery, asset: { ...delivery.asset, open } } : delivery
      },
    } as unknown as Deliveries
    const sizes = [...Array<number>(60).fill(999_999), ...Array<number>(20).fill(1_000_000)]
    const entries = entriesOf(await buffer(open(broken, sizes)))
    expect(entries).to.have.length(21)
    // Nothing had to be found twice.
    expect(told.filter((line) => line === 'find 1000000')).to.have.length(20)
  })

  it('reads no more ahead than the limit of all archives together', async () => {
    const { told, deliveries } = madeNow()
    const archive = createArchive({
      sources: createArchiveSources({
        deliveries,
        checksums: { observerOf: () => undefined },
        log: recordLog(),
      }),
      events: { emit() {} } as never,
      newReadAhead: createReadAhead({ maxBytes: 32 * 1024 * 1024 }),
    })
    const items = itemsOf(Array.from({ length: 50 }, () => 1_000_000))
    const controller = new AbortController()
    const unread = Array.from({ length: 10 }, () =>
      archive({
        client: CLIENT,
        caller: TRUSTED,
        archiveName: 'a.zip',
        items,
        newPiece,
        signal: controller.signal,
      }),
    )
    for (const stream of unread) stream.once('readable', () => {}).on('error', () => {})
    const reads = () => told.filter((line) => line.startsWith('open')).length
    await eventually(() => expect(reads()).to.be.at.least(30))
    await pause(100)
    // 32 MiB, and the two that each has begun to write.
    expect(reads()).to.be.at.most(33 + 20)
    for (const stream of unread) stream.destroy()
    controller.abort()
  })

  it('aborts work ahead when one of its files fails', async () => {
    const { deliveries } = madeNow()
    let stopped = false
    const broken = {
      async deliver(request: { path: string; signal: AbortSignal }) {
        const delivery = await deliveries.deliver(request as never)
        if (request.path !== '10') return { ...delivery, asset: { ...delivery.asset, size: LARGE - 1 } }
        await once(request.signal, 'abort')
        stopped = true
        throw request.signal.reason
      },
    } as unknown as Deliveries
    const error = await rejection(buffer(open(broken, [LARGE, 10])))
    expect(error).to.have.property('message').that.includes('received more')
    await eventually(() => expect(stopped).to.equal(true))
  })

  it('reports its number of bytes', async () => {
    const { deliveries } = madeNow()
    const archive = await buffer(open(deliveries, [10, LARGE]))
    expect(sent.at(-1)).to.deep.equal({
      clientId: 'first',
      archiveName: 'a.zip',
      entries: 2,
      errors: 0,
      bytes: archive.length,
    })
  })
})
