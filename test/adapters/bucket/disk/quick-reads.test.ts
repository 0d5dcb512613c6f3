import { execFileSync } from 'node:child_process'
import { closeSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import {
  type FileCalls,
  IN_THREADS,
  isOnLocalDisk,
  type QuickReads,
  quickReads,
} from '../../../../src/adapters/bucket/disk/quick-reads.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { instead, type Wrap } from '../../calls.ts'

describe('quick reads of a disk', () => {
  let folder: string
  let path: string
  let now: number
  let quick: QuickReads
  beforeEach(async () => {
    folder = await temporaryFolder()
    path = join(folder, 'file')
    await writeFile(path, '0123456789')
    now = 0
    quick = quickReads({ isLocal: true, clock: () => now })
  })
  afterEach(() => rm(folder, { recursive: true }))

  const inLoop = () => quick.calls() !== IN_THREADS
  /** Makes calls that take this long each, as on a disk that has to seek. */
  const slow = (ms: number, calls: number) => {
    const seeking: Wrap =
      (real) =>
      (...args) => {
        now += ms
        return real(...args)
      }
    return instead('fs', 'statSync', seeking, async () => {
      for (let i = 0; i < calls; i += 1) await quick.calls().stat(path)
    })
  }

  it('are made in the event loop on a disk of this machine', () => {
    expect(quick.calls().stat(path)).to.have.property('size', 10)
    expect(inLoop()).to.equal(true)
  })

  it('are made in threads on any other disk', () => {
    expect(quickReads({ isLocal: false }).calls()).to.equal(IN_THREADS)
  })

  it('are made in threads after slow calls of 50 ms, until a twentieth of the time was enough for them', async () => {
    await slow(12, 4)
    expect(inLoop()).to.equal(true)
    await slow(12, 1)
    expect(inLoop()).to.equal(false)
    // 60 ms were slow, of which 3 were regained meanwhile: 7 ms are missing.
    now += 130
    expect(inLoop()).to.equal(false)
    now += 60
    expect(inLoop()).to.equal(true)
  })

  it('do not count calls that are answered by the cache of the system', async () => {
    await slow(0.5, 200)
    expect(inLoop()).to.equal(true)
  })

  it('know the file systems of this machine, and none of another kind', async () => {
    expect(await isOnLocalDisk('/dev/shm')).to.equal(true)
    expect(await isOnLocalDisk('/proc')).to.equal(false)
  })

  for (const where of ['in the event loop', 'in threads'])
    describe(where, () => {
      let calls: FileCalls
      beforeEach(() => {
        calls = where === 'in threads' ? IN_THREADS : quick.calls()
      })

      it('return bytes from a position, and fewer at the end', async () => {
        const file = (await calls.open(path)) as number
        const into = Buffer.alloc(4)
        expect(await calls.read(file, into, 3)).to.equal(4)
        expect(String(into)).to.equal('3456')
        expect(await calls.read(file, into, 8)).to.equal(2)
      })

      it('return undefined for a file that cannot exist', async () => {
        for (const missing of [join(folder, 'none'), join(path, 'below'), join(folder, 'x'.repeat(300))]) {
          expect(await calls.stat(missing), missing).to.equal(undefined)
          expect(await calls.open(missing), missing).to.equal(undefined)
        }
      })

      it('do not wait for a writer when a file was replaced by a pipe after it was found', async () => {
        await rm(path)
        execFileSync('mkfifo', [path])
        const file = (await calls.open(path)) as number
        let error: unknown
        try {
          await calls.read(file, Buffer.alloc(4), 0)
        } catch (thrown) {
          error = thrown
        } finally {
          closeSync(file)
        }
        expect(error).to.have.property('code', 'ESPIPE')
      })

      it('fail when the disk fails', async () => {
        // A path that contains a NUL byte is refused by Node, not by the disk.
        for (const call of ['stat', 'open'] as const) {
          let error: unknown
          try {
            await calls[call]('a\0b')
          } catch (thrown) {
            error = thrown
          }
          expect(error).to.have.property('code', 'ERR_INVALID_ARG_VALUE')
        }
      })
    })
})
