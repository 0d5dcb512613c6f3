import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { Job, Jobs } from '../../../src/core/ports/jobs.ts'
import { notTransformable } from '../../../src/core/transform-problems.ts'
import { eventually } from '../../support/eventually.ts'
import { sized } from '../../support/sized.ts'
import { seededRandom } from '../random.ts'

const IDS = ['a', 'b', 'c', 'd', 'e', 'f']
const KINDS = ['make', 'send']

/**
 * Asks at random for a dozen jobs that end well or not, and looks whether each of them runs once at a time, once more
 * for a caller that adds it when it is done, and not again when it has failed permanently.
 */
export async function jobsModel({ jobs, elsewhere, seed }: { jobs: Jobs; elsewhere: Jobs; seed: number }) {
  const random = seededRandom(seed)
  const running = new Set<string>()
  const failed = new Set<string>()
  /** By job: how often its first attempt has begun, and how often it must have in the end. */
  const runs = new Map<string, number>()
  const owed = new Map<string, number>()
  const wrong: string[] = []

  const handler = async ({ kind, id, attempt }: Job) => {
    const name = `${kind} ${id}`
    if (running.has(name)) wrong.push(`${name} runs twice at a time`)
    if (failed.has(name)) wrong.push(`${name} runs though it has failed`)
    running.add(name)
    if (attempt === 1) runs.set(name, (runs.get(name) ?? 0) + 1)
    await pause(random.below(12))
    const luck = random.below(20)
    running.delete(name)
    if (luck === 0) {
      failed.add(name)
      throw notTransformable('broken')
    }
    if (luck < 6 && attempt < 4) throw new Error('for now')
  }
  const work = { limitMs: 10_000, attempts: 4, retryMs: 10, retryMaxMs: 40 }
  for (const [i, kind] of KINDS.entries()) jobs.work(kind, handler, { ...work, concurrency: i + 1 })
  if (elsewhere !== jobs) elsewhere.work('make', handler, { ...work, concurrency: 2 })

  for (let i = 0; i < sized(100, 200); i += 1) {
    const ref = { kind: random.oneOf(KINDS), id: random.oneOf(IDS) }
    const name = `${ref.kind} ${ref.id}`
    const before = await jobs.status(ref)
    if (before === undefined || before.state === 'done') owed.set(name, (runs.get(name) ?? 0) + 1)
    await random.oneOf([jobs, elsewhere]).enqueue({ ...ref, data: null, delayMs: random.below(3) * 5 })
    if (random.below(3) === 0) await pause(random.below(10))
  }

  for (const [name, least] of owed) {
    const [kind = '', id = ''] = name.split(' ')
    await eventually(async () => {
      const status = await elsewhere.status({ kind, id })
      expect(status?.state, name).to.equal(failed.has(name) ? 'failed' : 'done')
    })
    expect(runs.get(name), `runs of ${name}`).to.be.at.least(least)
  }
  expect(wrong).to.deep.equal([])
}
