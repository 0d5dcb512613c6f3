import { type FileHandle, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { diskBuckets } from '../../../../src/adapters/bucket/disk/disk.ts'
import { IN_THREADS, type QuickReads, quickReads } from '../../../../src/adapters/bucket/disk/quick-reads.ts'
import { type Asset, openWhole } from '../../../../src/core/bytes/asset.ts'
import { derivativeKey, type ObjectKey, storedKey } from '../../../../src/core/files/object-key.ts'
import type { Bucket, Buckets } from '../../../../src/core/ports/bucket.ts'
import { Problem } from '../../../../src/core/problem.ts'
import { bucketUrl } from '../../../../src/http/wire/urls.ts'
import { bucketContract } from '../../../contracts/bucket.ts'
import { eventually } from '../../../support/eventually.ts'
import { rejection } from '../../../support/rejection.ts'
import { openFilesIn, temporaryFolder } from '../../../support/temporary-folder.ts'
import { fileCalls, instead, systemError, type Wrap } from '../../calls.ts'

const urlOf = (key: ObjectKey, { token }: { token: string }) =>
  bucketUrl(key, { baseUrl: 'http://sluice.example', token })
const KEY = storedKey('a/b/image/png/7uLqEUXG4WpoGGa38h2U9Z.png')
const BESIDE = derivativeKey(KEY, 'w=100')
const ELSEWHERE = storedKey('c/image/png/7uLqEUXG4WpoGGa38h2U9Z.png')

bucketContract('disk', async () => {
  const folder = await temporaryFolder()
  return {
    buckets: await diskBuckets({ folder, urlOf }),
    close: () => rm(folder, { recursive: true }),
  }
})

// Failures and orders of calls are those of threads, however quick the disk is.
const THREADS = { calls: () => IN_THREADS }

describe('disk: files and folders', () => {
  let folder: string
  let buckets: Buckets
  let bucket: Bucket

  beforeEach(async () => {
    folder = join(await temporaryFolder(), 'bucket')
    buckets = await diskBuckets({ folder, urlOf, quick: THREADS })
    bucket = buckets.of({ id: 'first', token: 'pub_1' })
  })
  afterEach(() => rm(join(folder, '..'), { recursive: true }))

  it('stores an object as a file with its name in the folder of its client', async () => {
    await put(bucket, KEY, 'bytes')
    expect(await readFile(join(folder, 'first', KEY), 'utf8')).to.equal('bytes')
  })

  it('creates files that only their owner may read', async () => {
    await put(bucket, KEY, 'x')
    expect((await stat(join(folder, 'first', KEY))).mode & 0o777).to.equal(0o600)
    for (const part of ['first', 'first/a', 'first/a/b/image/png'])
      expect((await stat(join(folder, part))).mode & 0o777, part).to.equal(0o700)
  })

  it('closes a file after its last byte was read, even when the bytes are not consumed', async () => {
    await put(bucket, KEY, 'x'.repeat(1000))
    const asset = await bucket.find(KEY)
    const streams = await Promise.all([1, 2, 3].map(() => asset?.open()))
    expect(openFilesIn(folder)).to.deep.equal([])
    for (const stream of streams) expect(String(await buffer(stream as Readable))).to.have.length(1000)
  })

  it('returns a file of any size in one chunk when the caller needs all of it at once', async () => {
    await put(bucket, KEY, 'x'.repeat(1_000_000))
    const stream = await (await bucket.find(KEY))?.open({ atOnce: true })
    const sizes: number[] = []
    for await (const chunk of stream ?? []) sizes.push(chunk.length)
    expect(sizes).to.deep.equal([1_000_000])
  })

  it('reads again when the disk returns fewer bytes than requested', async () => {
    await put(bucket, KEY, '0123456789')
    const asset = await bucket.find(KEY)
    const range = { start: 2, end: 8 }
    const stream = await instead(
      'promises',
      'open',
      givingAtMost(3),
      () => asset?.open({ range }) as Promise<Readable>,
    )
    expect(String(await buffer(stream))).to.equal('2345678')
  })

  it('detects a replaced file of the same size and time, put in the same tick of the clock', async () => {
    const path = join(folder, 'first', KEY)
    const time = new Date('2026-01-02T03:04:05.678Z')
    await put(bucket, KEY, 'first')
    await utimes(path, time, time)
    const asset = await bucket.find(KEY)
    await put(bucket, KEY, 'other')
    await utimes(path, time, time)
    const range = { start: 1, end: 2 }
    expect(await rejection(asset?.open({ range }) as Promise<Readable>)).to.have.property('status', 503)
  })

  it('returns no bytes of a file that has grown since it was found', async () => {
    await put(bucket, KEY, 'first')
    const asset = await bucket.find(KEY)
    await put(bucket, KEY, 'first, and more')
    const error = await rejection(openWhole(asset as Asset).then(buffer))
    expect(error).to.have.property('message').that.includes('expected 5 bytes')
  })

  it('writes to a temporary name, and renames the file when it is complete', async () => {
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    async function* source() {
      yield 'half'
      await released
      yield ' and half'
    }
    const storing = bucket.put(KEY, Readable.from(source(), { objectMode: false }), {
      mediaType: 'image/png',
    })
    while ((await files(join(folder, '.tmp'))).length === 0) await pause(1)
    expect(await files(join(folder, 'first'))).to.deep.equal([])
    release()
    await storing
    expect(await files(folder)).to.deep.equal([join('first', KEY)])
  })

  it('flushes the file, renames it, and flushes its folder and the parents of new folders', async () => {
    const first = await fileCalls(folder, () => put(bucket, KEY, 'x'))
    const [temporary = ''] = first[0]?.split(' ').slice(1) ?? []
    expect(temporary).to.match(/^\.tmp\//)
    expect(first).to.deep.equal([
      `flush ${temporary}`,
      // Its folder is missing the first time.
      `rename ${temporary} first/${KEY}`,
      `rename ${temporary} first/${KEY}`,
      'flush first/a/b/image/png',
      'flush first/a/b/image',
      'flush first/a/b',
      'flush first/a',
      'flush first',
      'flush .',
    ])
    const second = await fileCalls(folder, () => put(bucket, BESIDE, 'x'))
    expect(second.slice(1)).to.deep.equal([
      `rename ${second[0]?.split(' ')[1]} first/${BESIDE}`,
      'flush first/a/b/image/png',
    ])
  })

  it('flushes no folder for a put that is not durable, but flushes the file', async () => {
    await put(bucket, KEY, 'x')
    const options = { mediaType: 'image/png', durable: false }
    const calls = await fileCalls(folder, () =>
      bucket.put(BESIDE, Readable.from([Buffer.from('x')]), options),
    )
    const [temporary] = calls[0]?.split(' ').slice(1) ?? []
    expect(calls).to.deep.equal([`flush ${temporary}`, `rename ${temporary} first/${BESIDE}`])
  })

  it('flushes the folder of a deleted file', async () => {
    await put(bucket, KEY, 'x')
    await put(bucket, BESIDE, 'x')
    const calls = await fileCalls(folder, () => bucket.delete([KEY]))
    expect(calls).to.deep.equal(['flush first/a/b/image/png'])
  })

  describe('a put that fails', () => {
    const faults = {
      'the disk is full': { module: 'fs', name: 'write', code: 'ENOSPC' },
      'the quota is used up': { module: 'promises', name: 'rename', code: 'EDQUOT' },
      'the file cannot be flushed': { module: 'fs', name: 'fsync', code: 'EIO' },
      'the file cannot be renamed': { module: 'promises', name: 'rename', code: 'EIO' },
      'its folder cannot be made': { module: 'promises', name: 'mkdir', code: 'EACCES' },
    } as const
    for (const [what, { module, name, code }] of Object.entries(faults)) {
      it(`leaves no new file, and leaves the former object unchanged when ${what}`, async () => {
        await put(bucket, BESIDE, 'as it was')
        const fail = (...args: unknown[]) => {
          const callback = args.at(-1)
          if (typeof callback === 'function') return callback(systemError(code))
          throw systemError(code)
        }
        // A folder that is there need not be made.
        for (const key of name === 'mkdir' ? [ELSEWHERE] : [KEY, BESIDE]) {
          const error = await instead(
            module,
            name,
            () => fail as never,
            () => rejection(put(bucket, key, 'new')),
          )
          if (code === 'ENOSPC' || code === 'EDQUOT') {
            expect(error).to.be.instanceOf(Problem).with.property('code', 'storage_full')
            expect((error as Problem).cause).to.have.property('code', code)
          } else expect(error).to.have.property('code', code)
        }
        expect(await files(folder)).to.deep.equal([join('first', BESIDE)])
        expect(await readFile(join(folder, 'first', BESIDE), 'utf8')).to.equal('as it was')
      })
    }

    it('leaves no temporary file, no folder and no open file', async () => {
      await Promise.all(
        Array.from({ length: 30 }, async (_, i) => {
          const controller = new AbortController()
          const source = new Readable({ read() {} })
          source.push('x'.repeat(1000))
          const storing = rejection(
            bucket.put(KEY, source, { mediaType: 'image/png', signal: controller.signal }),
          )
          for (let turn = 0; turn < i; turn += 1) await new Promise(setImmediate)
          controller.abort()
          await storing
        }),
      )
      expect(await readdir(folder)).to.deep.equal(['.tmp'])
      expect(await readdir(join(folder, '.tmp'))).to.deep.equal([])
      expect(openFilesIn(folder)).to.deep.equal([])
    })

    it('leaves no temporary file when a slow disk opens it after the put has failed', async () => {
      const opening: Wrap =
        (real) =>
        (...args) =>
          setTimeout(() => real(...args), 20)
      const failing = () => {
        const source = new Readable({ read() {} })
        source.destroy(new Error('at once'))
        return source
      }
      const sources = [
        { source: failing(), signal: undefined },
        { source: Readable.from(['x']), signal: AbortSignal.abort() },
        { source: Readable.from(['x']), signal: AbortSignal.timeout(1) },
      ]
      for (const { source, signal } of sources) {
        await instead('fs', 'open', opening, () =>
          rejection(bucket.put(KEY, source, { mediaType: 'image/png', ...(signal ? { signal } : {}) })),
        )
        expect(await readdir(join(folder, '.tmp'))).to.deep.equal([])
        await pause(40)
        expect(await readdir(join(folder, '.tmp'))).to.deep.equal([])
      }
    })

    it('does not rename an object whose signal has aborted, however late', async () => {
      for (let ticks = 0; ticks < 8; ticks += 1) {
        const controller = new AbortController()
        // The last thing that happens to the temporary file before its rename.
        const closing: Wrap =
          (real) =>
          (...args: never[]) => {
            const done = args.at(-1) as unknown as (error: unknown) => void
            const closed = (error: unknown) => {
              done(error)
              abortAfter(ticks)
            }
            return real(...args.slice(0, -1), closed as never)
          }
        const abortAfter = (left: number) => {
          if (left === 0) controller.abort()
          else process.nextTick(abortAfter, left - 1)
        }
        let abortedBefore = false
        const making: Wrap =
          (real) =>
          (...args: never[]) => {
            abortedBefore ||= controller.signal.aborted
            return real(...args)
          }
        await instead('fs', 'close', closing, () =>
          instead('promises', 'mkdir', making, () =>
            bucket
              .put(KEY, Readable.from(['x']), { mediaType: 'image/png', signal: controller.signal })
              .catch(() => {}),
          ),
        )
        expect(abortedBefore, `aborted ${ticks} ticks after the close`).to.equal(false)
      }
    })

    it('does not reuse the temporary name of another process', async () => {
      const release: Array<() => void> = []
      const source = (text: string) =>
        Readable.from(
          (async function* () {
            yield text
            await new Promise<void>((resolve) => release.push(resolve))
          })(),
          { objectMode: false },
        )
      const other = buckets.of({ id: 'other', token: 'pub_2' })
      const puts = [
        bucket.put(KEY, source('one'), { mediaType: 'image/png' }),
        other.put(KEY, source('two'), { mediaType: 'image/png' }),
        buckets.of({ id: 'first', token: 'pub_1' }).put(BESIDE, source('three'), { mediaType: 'image/png' }),
      ]
      while (release.length < puts.length) await pause(1)
      for (const go of release) go()
      await Promise.all(puts)
      expect(await readFile(join(folder, 'first', KEY), 'utf8')).to.equal('one')
      expect(await readFile(join(folder, 'other', KEY), 'utf8')).to.equal('two')
      expect(await readFile(join(folder, 'first', BESIDE), 'utf8')).to.equal('three')
    })
  })

  describe('a delete that empties the folder of a put', () => {
    const removeFolder = async (path: unknown) => rm(dirname(String(path)), { recursive: true })

    it('succeeds nine times when the folder is deleted between mkdir and rename', async () => {
      let times = 9
      const renaming: Wrap =
        (real) =>
        async (...args: never[]) => {
          times -= 1
          if (times >= 0) await removeFolder(args[1])
          return real(...args)
        }
      const calls = await fileCalls(folder, () =>
        instead('promises', 'rename', renaming, () => put(bucket, KEY, 'x')),
      )
      expect(await files(folder)).to.deep.equal([join('first', KEY)])
      expect(calls.at(-1), 'its parents are flushed all the same').to.equal('flush .')
    })

    it('succeeds when the folder is deleted during mkdir', async () => {
      const codes = ['ENOENT', 'ENOTDIR']
      const making: Wrap =
        (real) =>
        async (...args: never[]) => {
          const code = codes.pop()
          if (code) throw systemError(code)
          return real(...args)
        }
      await instead('promises', 'mkdir', making, () => put(bucket, KEY, 'x'))
      expect(await files(folder)).to.deep.equal([join('first', KEY)])
    })

    it('succeeds when the folder is deleted after the rename: the object was stored and deleted', async () => {
      const renaming: Wrap =
        (real) =>
        async (...args: never[]) => {
          await real(...args)
          await removeFolder(args[1])
        }
      await instead('promises', 'rename', renaming, () => put(bucket, KEY, 'x'))
      expect(await files(folder)).to.deep.equal([])
    })

    it('fails after a limited number of attempts', async () => {
      const renaming: Wrap =
        (real) =>
        async (...args: never[]) => {
          await removeFolder(args[1])
          return real(...args)
        }
      const error = await instead('promises', 'rename', renaming, () => rejection(put(bucket, KEY, 'x')))
      expect(error).to.have.property('code', 'ENOENT')
      expect(await files(folder)).to.deep.equal([])
    })
  })

  it('leaves the temporary files of other processes at its start', async () => {
    await writeFile(join(folder, '.tmp', '1234-1'), 'half of')
    const again = await diskBuckets({ folder, urlOf })
    await put(again.of({ id: 'first', token: 'pub_1' }), KEY, 'x')
    expect(await files(folder)).to.deep.equal([join('.tmp', '1234-1'), join('first', KEY)])
  })

  it('flushes the entry of its own folder when that is new', async () => {
    const fresh = join(folder, '..', 'fresh')
    const calls = await fileCalls(join(folder, '..'), () => diskBuckets({ folder: fresh, urlOf }))
    expect(calls).to.deep.equal(['flush .'])
  })

  it('removes the folders that a delete has emptied, up to the first one that is not empty', async () => {
    const elsewhere = storedKey('a/c/image/png/7uLqEUXG4WpoGGa38h2U9Z.png')
    for (const key of [KEY, BESIDE, elsewhere]) await put(bucket, key, 'x')
    await bucket.delete([BESIDE])
    expect(await readdir(join(folder, 'first', 'a', 'b', 'image'))).to.deep.equal(['png'])
    await bucket.delete([KEY])
    expect(await readdir(join(folder, 'first', 'a'))).to.deep.equal(['c'])
    await bucket.delete([elsewhere])
    expect(await readdir(join(folder, 'first'))).to.deep.equal([])
  })

  describe('an entry of another kind in the place of a file', () => {
    it('a folder: finds no object, puts none, and reports that it cannot be deleted', async () => {
      const inside = storedKey(`${KEY}/x`)
      await put(bucket, inside, 'x')
      expect(await bucket.find(KEY)).to.equal(undefined)
      await rejection(put(bucket, KEY, 'y'))
      const { failed } = await bucket.delete([KEY, BESIDE])
      expect(failed.map(({ key }) => key)).to.deep.equal([KEY])
      expect(failed[0]?.error).to.be.instanceOf(Error)
      expect(await files(folder)).to.deep.equal([join('first', inside)])
    })

    it('a file in the place of a folder: puts nothing below it, and leaves it unchanged', async () => {
      await put(bucket, KEY, 'x')
      expect(await rejection(put(bucket, storedKey(`${KEY}/x/y`), 'y'))).to.have.property('code', 'ENOTDIR')
      expect(await bucket.find(storedKey(`${KEY}/x/y`))).to.equal(undefined)
      expect(await files(folder)).to.deep.equal([join('first', KEY)])
    })
  })

  describe('a disk that fails', () => {
    const failing = (name: string, work: () => Promise<unknown>, module: 'fs' | 'promises' = 'promises') =>
      instead(
        module,
        name,
        () => () => {
          if (module === 'promises') return Promise.reject(systemError('EIO'))
          throw systemError('EIO')
        },
        () => rejection(work()),
      )

    it('is an error, not a miss', async () => {
      // Larger than what is read at once.
      await put(bucket, KEY, 'x'.repeat(300_000))
      const asset = await bucket.find(KEY)
      const readBy = async (quick: QuickReads) =>
        (await diskBuckets({ folder, urlOf, quick })).of({ id: 'first', token: 'pub_1' })
      const inLoop = await readBy(quickReads({ isLocal: true }))
      const inThreads = await readBy({ calls: () => IN_THREADS })
      for (const error of [
        await failing('statSync', () => inLoop.find(KEY), 'fs'),
        await failing('stat', () => inThreads.find(KEY)),
        await failing('open', () => asset?.open() ?? Promise.resolve()),
        await failing('opendir', () => bucket.list('')[Symbol.asyncIterator]().next()),
        await failing('stat', () => buckets.ping()),
      ])
        expect(error).to.have.property('code', 'EIO')
    })

    it('names each key that could not be deleted, and deletes the others', async () => {
      const keys = [KEY, BESIDE, derivativeKey(KEY, 'w=200')]
      for (const key of keys) await put(bucket, key, 'x')
      const { failed } = await instead(
        'promises',
        'unlink',
        (real) =>
          async (...args: never[]) => {
            if (String(args[0]).endsWith(BESIDE)) throw systemError('EPERM')
            return real(...args)
          },
        () => bucket.delete(keys),
      )
      expect(failed.map(({ key }) => key)).to.deep.equal([BESIDE])
      expect(failed[0]?.error).to.have.property('code', 'EPERM')
      expect(await files(folder)).to.deep.equal([join('first', BESIDE)])
    })

    it('fails the ping when its folder was deleted', async () => {
      await rm(folder, { recursive: true })
      expect(await rejection(buckets.ping())).to.have.property('code', 'ENOENT')
      await mkdir(folder)
    })
  })

  it('closes the files that it opens, however reading ends', async () => {
    const handles: Array<{ fd: number }> = []
    const opening: Wrap =
      (real) =>
      async (...args) => {
        const handle = (await real(...args)) as { fd: number }
        handles.push(handle)
        return handle
      }
    await instead('promises', 'open', opening, async () => {
      await put(bucket, KEY, 'x'.repeat(2_000_000))
      const asset = await bucket.find(KEY)
      if (!asset) throw new Error('the object is gone')
      await rejection(asset.open({ signal: AbortSignal.abort() }).then((stream) => drain(stream)))
      const controller = new AbortController()
      const stream = await asset.open({ signal: controller.signal })
      await rejection(drain(stream, () => controller.abort()))
      ;(await asset.open()).destroy()
      await drain(await asset.open({ range: { start: 5, end: 5 } }))
      await put(bucket, BESIDE, 'x')
      await bucket.find(BESIDE)
      await bucket.delete([BESIDE])
    })
    expect(handles.length).to.be.above(10)
    // A handle that is closed has no descriptor.
    await eventually(() => expect(handles.filter(({ fd }) => fd !== -1)).to.deep.equal([]))
  })

  it('reads the type from the bytes only for derivatives, and only when it is not known', async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"></svg>'
    await put(bucket, KEY, svg)
    await put(bucket, BESIDE, svg)
    let opened = 0
    const types = await instead(
      'promises',
      'open',
      (real) =>
        (...args: never[]) => {
          opened += 1
          return real(...args)
        },
      async () => [
        (await bucket.find(KEY))?.mediaType,
        (await bucket.find(BESIDE, { mediaType: 'image/webp' }))?.mediaType,
        opened,
        (await bucket.find(BESIDE))?.mediaType,
        opened,
      ],
    )
    expect(types).to.deep.equal(['image/png', 'image/webp', 0, 'image/svg+xml', 1])
  })

  it('lists files only, without temporary ones', async () => {
    await put(bucket, KEY, 'x')
    await mkdir(join(folder, 'first', 'a', 'empty'), { recursive: true })
    await writeFile(join(folder, '.tmp', '1-1'), 'half')
    const keys: string[] = []
    for await (const key of bucket.list('')) keys.push(key)
    expect(keys).to.deep.equal([KEY])
  })

  it('ignores files whose names are not keys', async () => {
    await put(bucket, KEY, 'x')
    for (const name of ['a\\b.png', 'line\nbreak', 'what?.png', '%2e%2e.png'])
      await writeFile(join(folder, 'first', 'a', name), 'of somebody else')
    const keys: string[] = []
    for await (const key of bucket.list('')) keys.push(key)
    expect(keys).to.deep.equal([KEY])
  })

  it('returns URLs below /v1/bucket/<token>', () => {
    expect(bucket.urlOf(storedKey('a b/ü+&/x.png_w=1'))).to.equal(
      'http://sluice.example/v1/bucket/pub_1/a%20b/%C3%BC%2B%26/x.png_w%3D1',
    )
  })
})

async function put(bucket: Bucket, key: ObjectKey, text: string): Promise<void> {
  await bucket.put(key, Readable.from([Buffer.from(text)]), { mediaType: 'image/png' })
}

async function drain(stream: Readable, onChunk = () => {}): Promise<void> {
  for await (const _ of stream) onChunk()
}

/** All files below a folder, as paths from there, sorted. */
async function files(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort()
}

/** A disk that never reads more at once. */
function givingAtMost(bytes: number): Wrap {
  return (real) =>
    async (...args) => {
      const file = (await real(...args)) as FileHandle
      const read = file.read.bind(file) as (...args: unknown[]) => Promise<unknown>
      const less = (into: Buffer, at: number, length: number, from: number) =>
        read(into, at, Math.min(length, bytes), from)
      return Object.assign(file, { read: less })
    }
}
