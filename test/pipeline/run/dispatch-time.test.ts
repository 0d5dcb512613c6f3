import { expect } from 'chai'
import type { Plan } from '../../../src/pipeline/plan/plan.ts'
import { createAdmission } from '../../../src/pipeline/run/admission.ts'
import { createDispatcher } from '../../../src/pipeline/run/dispatch.ts'
import type { Runner, WorkRunner } from '../../../src/pipeline/run/run.ts'
import { rejection } from '../../support/rejection.ts'
import { NO_CPU_LIMIT, roomFor } from '../../support/requests/callers.ts'
import { assetOf, context } from '../image/transform.ts'

const steps = [{ plugin: { engine: 'sharp', params: {} } }] as unknown as Plan['steps']
const plan: Plan = { steps, variant: 'x', variesBy: [], notes: [] }
const source = assetOf(Buffer.from('picture'), 'png')

function dispatcher(here: Runner): WorkRunner {
  return createDispatcher({
    engines: new Map(),
    admit: createAdmission({ atOnce: 1, waiting: roomFor(1), waitMs: 1000, heavyFrom: 1e9, heavyBytes: 1e9 }),
    look: (work) => work(() => {}),
    cpuTime: NO_CPU_LIMIT,
    here,
    elsewhere: () => Promise.reject(new Error('expected work of a few bytes in this process')),
    room: { bytes: 1e9, atOnce: 1 },
    hangMs: 1000,
    metrics: { transformed() {} },
  })
}

describe('a transformation in this process', () => {
  it('is aborted when all passes together exceed the limit, however short each is', async () => {
    let passes = 0
    const run = dispatcher(async (_plan, _source, { signal }) => {
      for (; passes < 2000; passes += 1) {
        await new Promise((resolve) => setTimeout(resolve, 5))
        signal.throwIfAborted()
      }
      return source
    })
    const usual = context()
    const limits = { ...usual.limits, timeoutMs: 50 }
    const problem = await rejection(run(plan, source, { ...usual, limits }))
    expect(problem).to.include({ status: 422, message: 'This image takes too long to transform.' })
    expect(passes).to.be.below(2000)
  })

  it('names the media group in the error', async () => {
    const run = dispatcher(async (_plan, given, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      signal.throwIfAborted()
      return given
    })
    const limits = { ...context().limits, timeoutMs: 20 }
    for (const [format, message] of [
      ['png', 'This image takes too long to transform.'],
      ['mp4', 'This video takes too long to transform.'],
      ['mp3', 'This audio takes too long to transform.'],
    ] as const) {
      const late = rejection(run(plan, assetOf(Buffer.from('bytes'), format), context({ limits })))
      expect(await late).to.include({ status: 422, message })
    }
  })

  it("is aborted with the caller's reason when that comes first", async () => {
    const gone = new AbortController()
    const run = dispatcher(async (_plan, _source, { signal }) => {
      gone.abort(new Error('nobody waits'))
      signal.throwIfAborted()
      return source
    })
    const problem = await rejection(run(plan, source, { ...context(), signal: gone.signal }))
    expect(problem).to.include({ message: 'nobody waits' })
  })
})
