import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { assetFromBytes } from '../../../src/core/bytes/asset.ts'
import type { Client } from '../../../src/core/clients/client.ts'
import { newFileId, newOriginal } from '../../../src/core/files/object-key.ts'
import { knownFormat } from '../../../src/core/media/formats.ts'
import { type Job, type JobHandler, type JobRequest, NotYet } from '../../../src/core/ports/jobs.ts'
import { fileNotFound, Problem, storageFull, unavailable } from '../../../src/core/problem.ts'
import { notTransformable } from '../../../src/core/transform-problems.ts'
import type { Deliveries } from '../../../src/service/delivery/deliveries.ts'
import { createEagerTransforms } from '../../../src/service/delivery/eager-transforms.ts'
import { rejection } from '../../support/rejection.ts'
import { recordLog } from '../../support/service.ts'

const client: Client = { id: 'first', token: 'pub_first', secrets: [], createdAt: 0 }
const original = newOriginal({ folder: '', format: knownFormat('png'), id: newFileId() })
const facts = { mediaType: 'image/png', size: 1, sha256: '', storedAt: 0 }
const record = { key: original.key, originalName: 'a.png', ...facts }
const found = { name: original, record }
const DAY_MS = 24 * 3_600_000

describe('eager transforms', () => {
  /** With jobs that the test calls, and deliveries that it controls. */
  function eagerWith(deliver: Deliveries['deliver'], { enqueue = async (_: JobRequest) => {} } = {}) {
    const state = { now: 1_000_000, busy: false, known: true, delivered: 0 }
    const queued: JobRequest[] = []
    let handler: JobHandler<never> | undefined
    const log = recordLog()
    const transforms = createEagerTransforms({
      deliveries: {
        plan: () => ({ variant: 'w=1', steps: [{}], variesBy: [], notes: [] }) as never,
        planFor: async () => ({ variant: 'w=1' }) as never,
        deliver: (request) => {
          state.delivered += 1
          return deliver(request)
        },
        object: async () => ({}) as never,
        begin: async () => undefined,
        noteRepeated: () => {},
      },
      derivations: {
        derive: undefined as never,
        reserve: undefined as never,
        release: undefined as never,
        ended: async () => {},
        idle: async () => {},
      },
      jobs: {
        async enqueue(job) {
          queued.push(job)
          await enqueue(job)
        },
        work: (_kind, given) => {
          handler = given as JobHandler<never>
        },
        status: undefined as never,
        find: undefined as never,
        list: undefined as never,
        remove: undefined as never,
        openOf: undefined as never,
        counts: undefined as never,
        pause: undefined as never,
        close: undefined as never,
      },
      presentClient: async (id) => (state.known && id === client.id ? client : undefined),
      isBusy: () => state.busy,
      patienceMs: 200,
      log,
      now: () => state.now,
    })
    transforms.work()
    return {
      state,
      log,
      transforms,
      queued,
      /** Does the last job that was queued. */
      async work(signal = new AbortController().signal) {
        const job = { ...queued.at(-1), attempt: 1 } as Job<never>
        await handler?.(job, { signal, progress: () => {}, retryInMs: undefined })
      },
    }
  }

  const delivery = async () =>
    ({
      key: original.key,
      asset: assetFromBytes(Buffer.alloc(1), { mediaType: 'image/png', lastModified: new Date() }),
    }) as never
  const failing = (error: Error) => async () => {
    throw error
  }

  it('are queued under their key, once for each derivative', async () => {
    const { transforms, queued } = eagerWith(delivery)
    const [transform] = await transforms.begin(client, found, ['w=1'])
    expect(transform).to.deep.equal({ query: 'w=1', key: `${original.key}_w=1`, state: 'waiting' })
    expect(queued.map(({ kind, id }) => ({ kind, id }))).to.deep.equal([
      { kind: 'derive', id: `first ${original.key}_w=1` },
    ])
  })

  it('fail when they cannot be queued, but their upload does not', async () => {
    const { transforms, log } = eagerWith(delivery, { enqueue: failing(unavailable('jobs are away')) })
    const states = (await transforms.begin(client, found, ['w=1', 'w=2'])).map(({ state }) => state)
    expect(states).to.deep.equal(['failed', 'failed'])
    expect(log.lines.map(({ message }) => message)).to.include('a derivative cannot be queued')
  })

  it('are deferred during overload and outages, for a day, then they fail', async () => {
    for (const [error, delayMs] of [
      [unavailable('too many wait'), 5000],
      [unavailable('the bucket is away', { retryAfterSeconds: 2 }), 2000],
      [storageFull(new Error()), 60_000],
      // The PDF of a document is in progress.
      [new Problem({ status: 423, code: 'not_ready', detail: '', members: { retryAfterSeconds: 3 } }), 3000],
    ] as const) {
      const { state, transforms, work } = eagerWith(failing(error))
      await transforms.begin(client, found, ['w=1'])
      const toDeferral = await rejection(work())
      expect(toDeferral).to.be.instanceOf(NotYet).and.include({ delayMs })
      state.now += DAY_MS - 1
      expect(await rejection(work())).to.be.instanceOf(NotYet)
      state.now += 1
      expect(await rejection(work())).to.equal(error)
    }
  })

  it('fail permanently when the image is invalid, and are retried when the service is at fault', async () => {
    for (const error of [notTransformable('it is broken'), new Error('a fault of ours')]) {
      const { transforms, work } = eagerWith(failing(error))
      await transforms.begin(client, found, ['w=1'])
      expect(await rejection(work())).to.equal(error)
    }
  })

  it('end without an error when their original or client was deleted', async () => {
    const gone = eagerWith(failing(fileNotFound()))
    await gone.transforms.begin(client, found, ['w=1'])
    await gone.work()

    const nobody = eagerWith(delivery)
    await nobody.transforms.begin(client, found, ['w=1'])
    nobody.state.known = false
    await nobody.work()
    expect(nobody.state.delivered).to.equal(0)
  })

  it('wait for requests, but not forever', async () => {
    const { state, transforms, work } = eagerWith(delivery)
    await transforms.begin(client, found, ['w=1'])
    state.busy = true
    const first = work()
    await pause(60)
    expect(state.delivered).to.equal(0)
    await first
    expect(state.delivered).to.equal(1)
  })

  it('are put back when the process exits, and such an attempt does not count', async () => {
    const { state, transforms, work } = eagerWith(
      ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    )
    await transforms.begin(client, found, ['w=1'])
    const running = rejection(work())
    while (state.delivered === 0) await pause(5)
    transforms.stop()
    expect(await running).to.be.instanceOf(NotYet)
  })

  it('fail after their time limit', async () => {
    const { transforms, work } = eagerWith(
      ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    )
    await transforms.begin(client, found, ['w=1'])
    const late = new Problem({ status: 503, code: 'late', detail: 'late' })
    const controller = new AbortController()
    const running = rejection(work(controller.signal))
    await pause(20)
    controller.abort(late)
    expect(await running).to.be.instanceOf(Error)
  })
})
