import { mkdir, readdir, rm, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { ClassicLevel } from 'classic-level'
import { openResilientLevel, type ResilientLevel } from '../../../src/adapters/level/resilient-level.ts'
import { rejection } from '../../support/rejection.ts'
import { type RecordedLog, recordLog } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const ALL = { gt: '', lt: '\xff' }

describe('a LevelDB after a failed write', () => {
  const { batch, open } = ClassicLevel.prototype
  let folder: string
  let level: ResilientLevel
  beforeEach(async () => {
    folder = await temporaryFolder()
    level = await openResilientLevel(join(folder, 'index'))
    await level.write([{ type: 'put', key: 'a', value: 1 }])
  })
  afterEach(async () => {
    Object.assign(ClassicLevel.prototype, { batch, open })
    await level.close()
    await rm(folder, { recursive: true })
  })

  const put = (key: string) => level.write([{ type: 'put', key, value: 1 }])
  /** The next `times` calls of a method fail as on a broken disk. */
  const breakNext = (method: 'batch' | 'open', times = 1) => {
    const real = ClassicLevel.prototype[method] as (...args: unknown[]) => Promise<void>
    let left = times
    ClassicLevel.prototype[method] = async function (this: unknown, ...args: unknown[]) {
      if (left-- > 0) throw Object.assign(new Error('IO error: write'), { code: 'LEVEL_IO_ERROR' })
      return real.apply(this, args)
    } as never
  }

  it('makes its folder readable by its owner only, also one of an earlier version', async () => {
    const earlier = join(folder, 'jobs')
    await mkdir(earlier, { mode: 0o755 })
    const second = await openResilientLevel(earlier)
    for (const each of ['index', 'jobs'])
      expect((await stat(join(folder, each))).mode & 0o777, each).to.equal(0o700)
    await second.close()
  })

  it('flushes its writes, unless they are not durable', async () => {
    const flushed: unknown[] = []
    ClassicLevel.prototype.batch = async function (this: unknown, ...args: unknown[]) {
      flushed.push((args[1] as { sync: boolean }).sync)
      return (batch as (...args: unknown[]) => Promise<void>).apply(this, args)
    } as never
    await put('b')
    await level.write([{ type: 'put', key: 'c', value: 1 }], { durable: false })
    expect(flushed).to.deep.equal([true, false])
    expect(await level.names(ALL)).to.deep.equal(['a', 'b', 'c'])
  })

  it('is reopened, and repeats the failed write', async () => {
    breakNext('batch')
    await put('b')
    expect(await level.rows(ALL)).to.deep.equal([
      ['a', 1],
      ['b', 1],
    ])
    expect(await readdir(join(folder, 'index'))).to.not.include('room')
  })

  it('is reopened for the next write as well when the repeated write fails', async () => {
    breakNext('batch', 2)
    expect(await rejection(put('b'))).to.have.property('code', 'LEVEL_IO_ERROR')
    let openings = 0
    const real = ClassicLevel.prototype.open as () => Promise<void>
    ClassicLevel.prototype.open = async function (this: unknown) {
      openings += 1
      return real.apply(this as never)
    } as never
    await put('c')
    expect(openings).to.equal(1)
    expect(await level.names(ALL)).to.deep.equal(['a', 'c'])
  })

  it('is reopened once for many callers, and no concurrent read fails', async () => {
    let openings = 0
    const real = ClassicLevel.prototype.open as () => Promise<void>
    ClassicLevel.prototype.open = async function (this: unknown) {
      openings += 1
      return real.apply(this as never)
    } as never
    breakNext('batch', 3)
    let written = false
    const writes = Promise.all(['b', 'c', 'd'].map(put)).then(() => {
      written = true
    })
    while (!written) {
      expect(await level.get(['a'])).to.deep.equal([1])
      expect((await level.rows(ALL))[0]).to.deep.equal(['a', 1])
      expect((await level.names(ALL))[0]).to.equal('a')
    }
    await writes
    expect(await level.names(ALL)).to.deep.equal(['a', 'b', 'c', 'd'])
    expect(openings).to.equal(1)
  })

  it('fails with 503 until it can be reopened', async () => {
    breakNext('batch')
    breakNext('open', 2)
    for (const attempt of [() => put('b'), () => level.get(['a'])])
      expect(await rejection(attempt())).to.include({ status: 503, code: 'unavailable' })
    expect(await level.get(['a', 'b'])).to.deep.equal([1, undefined])
    await put('b')
    expect(await level.names(ALL)).to.deep.equal(['a', 'b'])
  })

  it('stays closed once it was closed', async () => {
    await level.close()
    for (const attempt of [() => put('b'), () => level.get(['a']), () => level.names(ALL)])
      expect(await rejection(attempt())).to.have.property('code', 'LEVEL_DATABASE_NOT_OPEN')
  })

  describe('that can be filled again from the bucket', () => {
    let store: ResilientLevel
    let log: RecordedLog
    const opened = async () => {
      log = recordLog()
      store = await openResilientLevel(join(folder, 'refilled'), { refilled: { log, message: 'damaged' } })
    }
    beforeEach(async () => {
      await opened()
      await store.write([{ type: 'put', key: 'a', value: 1 }])
    })
    afterEach(() => store.close())

    const aside = async () => (await readdir(folder)).filter((name) => name.startsWith('refilled.damaged-'))
    const cutManifest = async () => {
      for (const name of await readdir(join(folder, 'refilled')))
        if (name.startsWith('MANIFEST')) await truncate(join(folder, 'refilled', name))
    }
    /** The next opening finds what `work` has done to the folder. */
    const beforeNextOpening = (work: () => Promise<void>) => {
      const real = ClassicLevel.prototype.open as () => Promise<void>
      let isNext = true
      ClassicLevel.prototype.open = async function (this: unknown) {
        if (isNext) {
          isNext = false
          await work()
        }
        return real.apply(this as never)
      } as never
    }

    it('is replaced by an empty one when its reopening after a failed write detects damage', async () => {
      breakNext('batch')
      beforeNextOpening(cutManifest)
      expect(store.replacements()).to.equal(0)
      await store.write([{ type: 'put', key: 'b', value: 1 }])
      expect(await store.names(ALL)).to.deep.equal(['b'])
      expect(await aside()).to.have.length(1)
      expect(store.replacements()).to.equal(1)
      expect(log.lines.map(({ level }) => level)).to.deep.equal(['error'])
    })

    const failures: Record<string, (path: string) => string> = {
      'a file system that refuses the lock': (path) => `IO error: lock ${path}/LOCK: Invalid argument`,
      'a file system that cannot map an intact table': (path) =>
        `IO error: ${path}/000005.ldb: Invalid argument`,
      'a folder that has disappeared': (path) => `IO error: ${path}/LOCK: No such file or directory`,
    }
    for (const [what, message] of Object.entries(failures))
      it(`is not replaced when ${what} prevents its opening`, async () => {
        await store.close()
        // LevelDB makes a table of its log when it is opened again.
        await opened()
        await store.close()
        const [table] = (await readdir(join(folder, 'refilled'))).filter((name) => name.endsWith('.ldb'))
        expect(table).to.equal('000005.ldb')
        const reason = new Error(message(join(folder, 'refilled')))
        const cause = Object.assign(reason, { code: 'LEVEL_IO_ERROR' })
        ClassicLevel.prototype.open = async () => {
          const code = 'LEVEL_DATABASE_NOT_OPEN'
          throw Object.assign(new Error('Database failed to open', { cause }), { code })
        }
        expect(await rejection(opened())).to.have.property('code', 'LEVEL_DATABASE_NOT_OPEN')
        expect(await aside()).to.deep.equal([])
        ClassicLevel.prototype.open = open
        await opened()
        expect(await store.names(ALL)).to.deep.equal(['a'])
      })
  })
})
