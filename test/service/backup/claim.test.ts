import { rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { expect } from 'chai'
import { diskBuckets } from '../../../src/adapters/bucket/disk/disk.ts'
import { storedKey } from '../../../src/core/files/object-key.ts'
import type { Bucket } from '../../../src/core/ports/bucket.ts'
import { unavailable } from '../../../src/core/problem.ts'
import { putJson } from '../../../src/core/storage/small-object.ts'
import { type ClaimedTarget, type ClaimOptions, withClaim } from '../../../src/service/backup/claim.ts'
import { rejection } from '../../support/rejection.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const KEYS = { mark: storedKey('installation.json'), run: storedKey('run.json') }

describe('the claim of a target', () => {
  let folder: string
  let target: Bucket
  let renew: () => Promise<void>
  let now: number
  beforeEach(async () => {
    folder = await temporaryFolder()
    target = (await diskBuckets({ folder, urlOf: (key) => key })).of({ id: '.', token: '' })
    now = 1e12
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const claimed = <T>(
    work: (target: ClaimedTarget) => Promise<T>,
    { installation = 'one', of = target, unmarked }: Partial<ClaimOptions> & { of?: Bucket } = {},
  ): Promise<T> =>
    withClaim(
      of,
      {
        keys: KEYS,
        installation,
        unmarked,
        signal: new AbortController().signal,
        now: () => now,
        repeat(work) {
          renew = work
          return { async stop() {} }
        },
      },
      work,
    )
  const refusal = async (work: Promise<unknown>) => ((await rejection(work)) as Error).message
  const ofRun = (run: object) =>
    putJson(target, KEYS.run, {
      value: { id: 'other', host: 'elsewhere', pid: 1, at: now, ...run },
      signal: new AbortController().signal,
    })

  it('refuses a second run until the first one has ended', async () => {
    await ofRun({ host: hostname(), pid: process.ppid })
    expect(await refusal(claimed(async () => {}))).to.include('another run uses this place')
    await target.delete([KEYS.run])
    expect(await claimed(async () => 'second')).to.equal('second')
    expect(await target.find(KEYS.run)).to.equal(undefined)
  })

  it('refuses the target of another installation', async () => {
    await claimed(async () => {})
    const other = claimed(async () => {}, { installation: 'two' })
    expect(await refusal(other)).to.include('the files of another installation')
  })

  it('completes a mark without an installation, and checks a target without a mark before it gets one', async () => {
    const value = {}
    await putJson(target, KEYS.mark, { value, signal: new AbortController().signal })
    await claimed(async () => {})
    expect(await refusal(claimed(async () => {}, { installation: 'two' }))).to.include('another installation')
    await target.delete([KEYS.mark])
    const unmarked = () => Promise.reject(new Error('not empty'))
    expect(await refusal(claimed(async () => {}, { unmarked }))).to.equal('not empty')
    for (const key of [KEYS.mark, KEYS.run]) expect(await target.find(key)).to.equal(undefined)
  })

  it('takes over the claim of a killed run: at once on this machine, else after ten minutes', async () => {
    // No process has this number.
    await ofRun({ host: hostname(), pid: 2 ** 30 })
    expect(await claimed(async () => 1)).to.equal(1)
    await ofRun({})
    expect(await refusal(claimed(async () => {}))).to.include('on elsewhere')
    now += 600_000
    expect(await claimed(async () => 2)).to.equal(2)
  })

  it('takes over the claim of a run with our number, as in a container, when it was not renewed twice', async () => {
    await ofRun({ host: hostname(), pid: process.pid })
    now += 240_000
    expect(await refusal(claimed(async () => {}))).to.include('another run uses this place')
    now += 1
    expect(await claimed(async () => 1)).to.equal(1)
  })

  it('stops a run whose target was taken, and leaves the claim of the other run', async () => {
    await claimed(async ({ signal, check }) => {
      await renew()
      expect(signal.aborted).to.equal(false)
      await ofRun({})
      expect(await refusal(check())).to.include('another run')
      await renew()
      expect((signal.reason as Error).message).to.include('another run')
    })
    expect(await target.find(KEYS.run)).to.be.an('object')
  })

  it('continues during a short outage of the target, and stops in a long one', async () => {
    let isDown = false
    const failing: Bucket = {
      ...target,
      find: (key, known) => (isDown ? Promise.reject(unavailable('down')) : target.find(key, known)),
    }
    const run = async ({ signal }: ClaimedTarget) => {
      isDown = true
      await renew()
      expect(signal.aborted).to.equal(false)
      now += 300_000
      await renew()
      expect((signal.reason as Error).message).to.equal('down')
    }
    await claimed(run, { of: failing })
  })
})
