import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { type DiskReserve, diskReserve } from '../../../src/adapters/disk/disk-reserve.ts'
import { eventually } from '../../support/eventually.ts'
import { rejection } from '../../support/rejection.ts'
import { recordLog } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const MIB = 1024 ** 2

describe('the reserve of a disk', () => {
  let folder: string
  let path: string
  let reserve: DiskReserve
  beforeEach(async () => {
    folder = await temporaryFolder()
    path = join(folder, 'reserve')
  })
  afterEach(async () => {
    await reserve.close()
    await rm(folder, { recursive: true })
  })

  const size = () =>
    stat(path).then(
      (found) => found.size,
      () => 0,
    )
  const begin = async ({ bytes = 16 * MIB, log = recordLog() } = {}) => {
    reserve = await diskReserve({ path, bytes, log, tryEveryMs: 60_000 })
    return log
  }
  const filled = async (bytes = 16 * MIB) => {
    reserve.fillUp()
    await eventually(async () => expect(await size()).to.equal(bytes))
  }
  const noSpace = (words = 'write') => Object.assign(new Error(words), { code: 'ENOSPC' })

  it('is filled in the background, and completed when a part of it exists', async () => {
    await writeFile(path, Buffer.alloc(MIB))
    await begin({ bytes: 3 * MIB + 5 })
    await filled(3 * MIB + 5)
  })

  it('is shrunk in steps until the work succeeds, and restored before the next ordinary write', async () => {
    const log = await begin()
    await filled()
    let attempts = 0
    const work = async () => {
      attempts += 1
      if ((await size()) > 0) throw noSpace()
      return attempts
    }
    expect(await reserve.forced(work)).to.equal(3)
    expect(reserve.isIntact()).to.equal(false)
    await reserve.restored()
    expect(reserve.isIntact()).to.equal(true)
    expect(await size()).to.equal(16 * MIB)
    await reserve.restored()
    expect(log.lines.map(({ level }) => level)).to.deep.equal(['warn', 'warn', 'info'])
  })

  it('is shrunk by one step for all calls that fail at the same time', async () => {
    await begin()
    await filled()
    const work = async () => {
      if ((await size()) > 8 * MIB) throw noSpace()
    }
    await Promise.all(Array.from({ length: 10 }, () => reserve.forced(work)))
    expect(await size()).to.equal(8 * MIB)
  })

  it('is a 503 when it is used up, and does not change other errors', async () => {
    await begin()
    await filled()
    const levelDb = new Error('not open', { cause: new Error('IO error: No space left on device') })
    expect(await rejection(reserve.forced(() => Promise.reject(levelDb)))).to.include({
      status: 503,
      code: 'storage_full',
    })
    const other = new Error('another')
    expect(await rejection(reserve.forced(() => Promise.reject(other)))).to.equal(other)
  })

  it('lets ordinary writes begin while it is filled for the first time', async () => {
    await begin()
    await reserve.restored()
    expect(await size()).to.equal(0)
  })
})
