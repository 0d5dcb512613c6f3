import { cpuUsage } from 'node:process'
import { expect } from 'chai'
import type { CpuPayer, CpuTime } from '../../../src/core/budgets/cpu-time.ts'
import { assetFromBytes } from '../../../src/core/bytes/asset.ts'
import type { Engine, EngineName } from '../../../src/core/plugin-api/plugin.ts'
import { Problem } from '../../../src/core/problem.ts'
import type { Plan } from '../../../src/pipeline/plan/plan.ts'
import type { Admission } from '../../../src/pipeline/run/admission.ts'
import { createDispatcher } from '../../../src/pipeline/run/dispatch.ts'
import type { Runner } from '../../../src/pipeline/run/run.ts'
import { createSpentHere } from '../../../src/pipeline/run/spending.ts'
import { rejection } from '../../support/rejection.ts'
import { context } from '../image/transform.ts'

const source = assetFromBytes(Buffer.from('bytes'), { mediaType: 'image/png', lastModified: new Date(0) })
const planOf = (...engines: readonly EngineName[]) =>
  ({
    variant: 'x',
    variesBy: [],
    notes: [],
    steps: engines.map((engine) => ({ plugin: { engine, params: {} } })),
  }) as unknown as Plan

/** The CPU time of this process. */
function processMs(): number {
  const { user, system } = cpuUsage()
  return (user + system) / 1000
}

/** Takes CPU time: on a busy machine that is less than the time by a clock. */
function spin(cpuMs: number): void {
  const before = processMs()
  while (processMs() - before < cpuMs);
}

/** A dispatcher whose work runs apart, and what is paid. */
function dispatcher({
  runner,
  refusesFrom = Number.POSITIVE_INFINITY,
}: {
  runner: Runner
  /** The check from which on nothing is left. */
  refusesFrom?: number
}) {
  const charged: Array<{ clientId: string; cpuMs: number }> = []
  /** What the turns of header reads and of runs are paid with. */
  const turns = { look: 0, run: 0 }
  const admissionOf =
    (name: keyof typeof turns): Admission =>
    (work) =>
      work((cpuMs) => {
        turns[name] += cpuMs
      })
  let checks = 0
  const cpuTime: CpuTime = {
    async check() {
      checks += 1
      if (checks >= refusesFrom) throw new Problem({ status: 429, code: 'rate_limited', detail: 'used up' })
    },
    async charge({ clientId }: CpuPayer, cpuMs) {
      charged.push({ clientId, cpuMs })
    },
  }
  const forecast = async () => {
    spin(20)
    return { bytes: 1, mayHang: true, source }
  }
  const engine = { forecast } as unknown as Engine
  const run = createDispatcher({
    engines: new Map<EngineName, Engine>([
      ['sharp', engine],
      ['ffmpeg', engine],
    ]),
    admit: admissionOf('run'),
    look: admissionOf('look'),
    cpuTime,
    here: runner,
    elsewhere: runner,
    room: { bytes: 1e9, atOnce: 2 },
    hangMs: 1000,
    metrics: { transformed() {} },
  })
  return { run, charged, turns, checks: () => checks }
}

describe('the CPU time of a transformation', () => {
  it('is measured in its processes and charged once to its payer, also after a failure', async () => {
    const { run, charged, turns } = dispatcher({
      async runner(_plan, asset, { spent }) {
        spent?.(500)
        spent?.(250)
        return asset
      },
    })
    await run(planOf('sharp'), source, context({ clientId: 'a' }))
    expect(turns.look).to.be.at.least(5)
    expect(charged).to.deep.equal([{ clientId: 'a', cpuMs: turns.look + 750 }])
    const failing = dispatcher({
      async runner(_plan, _asset, { spent }) {
        spent?.(900)
        throw new Error('broken')
      },
    })
    await rejection(failing.run(planOf('sharp'), source, context()))
    expect(failing.turns.look).to.be.at.least(5)
    expect(failing.charged.map(({ cpuMs }) => cpuMs)).to.deep.equal([failing.turns.look + 900])
  })

  it('is charged to the turns of the run and of the header read', async () => {
    const { run, charged, turns } = dispatcher({
      async runner(_plan, asset, { spent }) {
        spent?.(500)
        spent?.(250)
        return asset
      },
    })
    await run(planOf('sharp'), source, context())
    expect(turns.run).to.equal(750)
    expect(turns.look).to.be.at.least(5)
    expect(charged[0]?.cpuMs).to.equal(turns.run + turns.look)
  })

  it('is checked before the header is read, and again when the turn has come', async () => {
    const runs: string[] = []
    const runner: Runner = async (_plan, asset) => {
      runs.push('run')
      return asset
    }
    const first = dispatcher({ runner, refusesFrom: 1 })
    expect(await rejection(first.run(planOf('sharp'), source, context()))).to.have.property('status', 429)
    const second = dispatcher({ runner, refusesFrom: 2 })
    expect(await rejection(second.run(planOf('sharp'), source, context()))).to.have.property('status', 429)
    expect([first.checks(), second.checks(), runs]).to.deep.equal([1, 2, []])
  })

  it('is not charged for a media job', async () => {
    const { run, charged, checks } = dispatcher({
      async runner(_plan, asset, { spent }) {
        spent?.(1e6)
        return asset
      },
      refusesFrom: 1,
    })
    await run(planOf('ffmpeg'), source, context())
    expect([charged, checks()]).to.deep.equal([[], 0])
  })

  it('in this process is read from its own clocks', async () => {
    let spent = 0
    const note = (ms: number) => {
      spent = ms
    }
    await createSpentHere()(async () => spin(60), note)
    expect(spent).to.be.at.least(20)
  })

  it('in this process exceeds neither the elapsed time nor the CPU time of the process', async () => {
    const clock = { now: 0, cpuMs: 0 }
    const spentHere = createSpentHere({ now: () => clock.now, cpuMs: () => clock.cpuMs })
    const spent: number[] = []
    const note = (ms: number) => {
      spent.push(ms)
    }
    const passing = (ms: number, cpuMs: number) => async () => {
      clock.now += ms
      clock.cpuMs += cpuMs
    }
    // Two threads are busy; then the work waits, and fails.
    await spentHere(passing(60, 120), note)
    const failing = passing(200, 3)
    const failure = rejection(
      spentHere(() => failing().then(() => Promise.reject(new Error('broken'))), note),
    )
    expect(await failure).to.have.property('message', 'broken')
    expect(spent).to.deep.equal([60, 3])
  })

  it('in this process is divided among all work that runs at the same moment', async () => {
    const clock = { now: 0, cpuMs: 0 }
    const spentHere = createSpentHere({ now: () => clock.now, cpuMs: () => clock.cpuMs })
    const spent: Record<string, number> = {}
    /** Begins a work. @returns a function that ends it */
    const begin = (name: string) => {
      let end = () => {}
      const ended = new Promise<void>((resolve) => {
        end = resolve
      })
      const measured = spentHere(
        () => ended,
        (cpuMs) => {
          spent[name] = cpuMs
        },
      )
      return () => {
        end()
        return measured
      }
    }
    const pass = (ms: number, cpuMs: number) => {
      clock.now += ms
      clock.cpuMs += cpuMs
    }
    // Before the first work the process does something else.
    pass(1000, 1000)
    const endFirst = begin('first')
    // Two threads are busy, of which it has one.
    pass(100, 200)
    const endSecond = begin('second')
    pass(100, 120)
    await endFirst()
    pass(100, 30)
    await endSecond()
    expect(spent).to.deep.equal({ first: 160, second: 90 })
  })
})
