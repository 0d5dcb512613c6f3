import { expect } from 'chai'
import { type Asset, assetFromBytes } from '../../../src/core/bytes/asset.ts'
import type { Forecast } from '../../../src/core/plugin-api/forecast.ts'
import type { Engine, EngineContext, EngineName } from '../../../src/core/plugin-api/plugin.ts'
import { fileNotFound, unavailable } from '../../../src/core/problem.ts'
import { notTransformable } from '../../../src/core/transform-problems.ts'
import type { Plan } from '../../../src/pipeline/plan/plan.ts'
import { createDispatcher, type DispatchOptions } from '../../../src/pipeline/run/dispatch.ts'
import { rejection } from '../../support/rejection.ts'
import { NO_CPU_LIMIT } from '../../support/requests/callers.ts'
import { context } from '../image/transform.ts'

const asset = (text: string): Asset =>
  assetFromBytes(Buffer.from(text), { mediaType: 'image/png', lastModified: new Date(0) })

const plan = {
  variant: 'x',
  variesBy: [],
  steps: [{ plugin: { engine: 'sharp', params: {} } }],
} as unknown as Plan

/** A dispatcher whose runners report where they are, and end when the test ends them. */
function dispatcher({ room = { bytes: 100, atOnce: 10 }, ...options }: Partial<DispatchOptions> = {}) {
  const ran: Array<{ where: string; source: Asset; context: EngineContext }> = []
  const ends: Array<() => void> = []
  const outcomes: string[] = []
  const admitted: number[] = []
  let forecast: () => Promise<Forecast> = async () => ({ bytes: 1, mayHang: false, source: asset('') })
  const runner = (where: string) => async (_: Plan, source: Asset, given: EngineContext) => {
    ran.push({ where, source, context: given })
    await new Promise<void>((end) => ends.push(end))
    return asset(where)
  }
  const run = createDispatcher({
    engines: new Map([['sharp', { forecast: () => forecast() } as unknown as Engine]]) as ReadonlyMap<
      EngineName,
      Engine
    >,
    admit: (work, { bytes }) => {
      admitted.push(bytes)
      return work(() => {})
    },
    look: async (work, { signal }) => {
      signal.throwIfAborted()
      return work(() => {})
    },
    cpuTime: NO_CPU_LIMIT,
    here: runner('here'),
    elsewhere: runner('elsewhere'),
    room,
    hangMs: 10_000,
    metrics: { transformed: ({ outcome }) => outcomes.push(outcome) },
    ...options,
  })
  const works: Promise<Asset>[] = []
  return {
    ran,
    outcomes,
    admitted,
    /** Starts one that the forecast says this of; where it runs. */
    async start(expected: Partial<Forecast>): Promise<string | undefined> {
      forecast = async () => ({ bytes: 1, mayHang: false, source: asset('read'), ...expected })
      works.push(run(plan, asset('given'), context()))
      await new Promise(setImmediate)
      return ran.at(-1)?.where
    },
    fail(error: Error) {
      forecast = () => Promise.reject(error)
      return rejection(run(plan, asset('given'), context()))
    },
    async end(which: number) {
      ends[which]?.()
      await new Promise(setImmediate)
    },
    async endAll() {
      for (const end of ends) end()
      await Promise.all(works)
    },
    run,
  }
}

describe('the process of a transformation', () => {
  it('is this one while it has enough memory, otherwise a child process', async () => {
    const { start, end, endAll } = dispatcher()
    expect(await start({ bytes: 60 })).to.equal('here')
    expect(await start({ bytes: 41 })).to.equal('elsewhere')
    expect(await start({ bytes: 40 })).to.equal('here')
    expect(await start({ bytes: 1 })).to.equal('elsewhere')
    await end(0)
    expect(await start({ bytes: 61 })).to.equal('elsewhere')
    expect(await start({ bytes: 60 })).to.equal('here')
    await endAll()
  })

  it('is this one only while threads are left for files', async () => {
    const { start, end, endAll } = dispatcher({ room: { bytes: 100, atOnce: 2 } })
    for (const where of ['here', 'here', 'elsewhere']) expect(await start({ bytes: 1 })).to.equal(where)
    await end(1)
    for (const where of ['here', 'elsewhere']) expect(await start({ bytes: 1 })).to.equal(where)
    await endAll()
  })

  it('is a child process for work that may hang, with a shorter limit', async () => {
    const { start, ran, endAll } = dispatcher()
    expect(await start({ mayHang: true })).to.equal('elsewhere')
    expect(ran[0]?.context.limits).to.include({ timeoutMs: 10_000, sourceMaxPixels: 50_000_000 })
    expect(await start({ bytes: 1000 })).to.equal('elsewhere')
    expect(ran[1]?.context.limits).to.include({ timeoutMs: 30_000 })
    await endAll()
  })

  it('receives the source that has been read, and the admission the forecast', async () => {
    const { start, ran, admitted, endAll } = dispatcher()
    const source = asset('in memory')
    await start({ bytes: 7, source })
    expect(ran[0]?.source).to.equal(source)
    expect(admitted).to.deep.equal([7])
    await endAll()
  })

  it('is chosen after the header is read, in a turn of its own', async () => {
    const order: string[] = []
    const callers: unknown[] = []
    const { run } = dispatcher({
      here: async () => asset('here'),
      engines: new Map([
        ['sharp', { forecast: async () => void order.push('header') } as unknown as Engine],
      ]) as ReadonlyMap<EngineName, Engine>,
      look: (work, { clientId, caller, bytes }) => {
        order.push('turn')
        callers.push({ clientId, caller, bytes })
        return work(() => {})
      },
    })
    const { clientId, caller } = context()
    await run(plan, asset(''), context())
    expect(order).to.deep.equal(['turn', 'header'])
    expect(callers).to.deep.equal([{ clientId, caller, bytes: 0 }])
  })

  it('is not needed for a source refused by its header, which waits for no turn but is counted', async () => {
    const { fail, ran, admitted, outcomes } = dispatcher()
    const refusal = notTransformable('too large')
    expect(await fail(refusal)).to.equal(refusal)
    await fail(new Error('the bucket is away'))
    await fail(fileNotFound())
    expect({ ran, admitted, outcomes }).to.deep.equal({
      ran: [],
      admitted: [],
      outcomes: ['refused', 'failed', 'refused'],
    })
  })

  it('counts one transformation even for two engines, and none when a turn does not come', async () => {
    const other = { plugin: { engine: 'ffmpeg', params: {} } }
    const steps = [other, ...plan.steps] as unknown as Plan['steps']
    const { run, ran, outcomes } = dispatcher({ here: async () => asset('here') })
    await run({ ...plan, steps }, asset('given'), context())
    expect(ran).to.deep.equal([])
    expect(outcomes).to.deep.equal(['done'])

    const full = unavailable('too many wait')
    const busy = dispatcher({ admit: () => Promise.reject(full) })
    expect(await rejection(busy.run(plan, asset('given'), context()))).to.equal(full)
    expect(busy.outcomes).to.deep.equal([])
  })

  it('does not read a source for a caller that has aborted', async () => {
    const { run, ran, admitted } = dispatcher()
    const reason = new Error('left')
    const signal = AbortSignal.abort(reason)
    expect(await rejection(run(plan, asset(''), context({ signal })))).to.equal(reason)
    expect([ran, admitted]).to.deep.equal([[], []])
  })
})
