import { expect } from 'chai'
import { fileNotFound, unavailable } from '../../../src/core/problem.ts'
import type { Checksums } from '../../../src/service/archive/checksums.ts'
import type { ArchiveFiles } from '../../../src/service/archive/sources.ts'
import { createFindStored } from '../../../src/service/archive/stored-files.ts'
import { rejection } from '../../support/rejection.ts'

const SIZE = 100

/** Files of {@link SIZE} bytes by their paths. A path that begins with `new` has no checksum until it was read. */
function files({ read, maxMs }: { read?: Checksums['read']; maxMs?: number } = {}) {
  const done: string[] = []
  const controller = new AbortController()
  const findStored = createFindStored({
    sources: {
      async find({ path }) {
        if (path === 'missing') throw fileNotFound()
        if (path === 'outage') throw unavailable('')
        const isKnown = !path.startsWith('new') || done.includes(path)
        return { key: path, asset: { size: SIZE, ...(isKnown ? { crc32: 1 } : {}) }, stored: {} } as never
      },
    },
    checksums: {
      read:
        read ??
        (async ({ key }) => {
          done.push(key)
        }),
    },
    maxBytes: 3 * SIZE,
    ...(maxMs === undefined ? {} : { maxMs }),
  })
  const find = async (paths: string[], addsChecksums: boolean) => {
    const items = paths.map((path) => ({ path }))
    const found = await findStored({ items, signal: controller.signal } as unknown as ArchiveFiles, {
      addsChecksums,
    })
    return found?.map((one) => ('error' in one ? one.error.status : one.item.path))
  }
  return { find, done, controller }
}

describe('the stored files of an archive', () => {
  it('are found in their order, with the errors of missing ones', async () => {
    const { find, done } = files()
    const paths = ['a', 'new', 'missing', 'new 2']
    expect(await find(paths, true)).to.deep.equal(['a', 'new', 404, 'new 2'])
    expect(done.sort()).to.deep.equal(['new', 'new 2'])
  })

  it('are not read unless that is requested, and not during an outage', async () => {
    const { find, done } = files()
    expect(await find(['a', 'new'], false)).to.equal(undefined)
    expect(await find(['new', 'outage'], true)).to.equal(undefined)
    expect(done).to.deep.equal([])
  })

  it('are not read when together they have too many bytes', async () => {
    const { find, done } = files()
    expect(await find(['new 1', 'new 2', 'new 3', 'new 4'], true)).to.equal(undefined)
    expect(done).to.deep.equal([])
    expect(await find(['new 1', 'new 2', 'new 3', 'a', 'b'], true)).to.have.length(5)
  })

  it('are read for a limited time, and no longer than the client waits', async () => {
    const read: Checksums['read'] = (_, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    expect(await files({ read, maxMs: 5 }).find(['new'], true)).to.equal(undefined)
    const { find, controller } = files({ read })
    const left = new Error('the client has left')
    const finding = rejection(find(['new'], true))
    setImmediate(() => controller.abort(left))
    expect(await finding).to.equal(left)
  })
})
