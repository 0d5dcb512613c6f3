import { expect } from 'chai'
import { readAll } from '../../../src/core/bytes/asset.ts'
import { formatOfMediaType } from '../../../src/core/media/formats.ts'
import type { Children } from '../../../src/core/ports/children.ts'
import type { LoadedPlugin } from '../../../src/pipeline/load/load.ts'
import { createPlanner } from '../../../src/pipeline/plan/plan.ts'
import { createChildRunner, runInChild } from '../../../src/pipeline/run/remote-runner.ts'
import { createRunner } from '../../../src/pipeline/run/run.ts'
import { picture } from '../../support/media/images.ts'
import { rejection } from '../../support/rejection.ts'
import { assetOf, context, transformed } from '../image/transform.ts'
import { dropIn, ENGINES, loadWith } from '../load/drop-ins.ts'

/** Workers in this process, which get what can be sent to another. */
function workers(transforms: readonly LoadedPlugin[]) {
  const jobs: Array<Parameters<Children['run']>[0]> = []
  const work = runInChild(createRunner(ENGINES), { transforms })
  const run: Children['run'] = (job) => {
    jobs.push(job)
    return work(structuredClone(job.task), job)
  }
  return { jobs, run }
}

const planOf = (transforms: readonly LoadedPlugin[], query: string) =>
  createPlanner(
    transforms,
    [],
  )({
    query: new URLSearchParams(query),
    format: formatOfMediaType('image/png'),
    preferences: {},
  })

describe('a plan in a child process', () => {
  it('gives the same bytes', async () => {
    const { transforms } = await loadWith({})
    const png = await picture()
    const query = 'w=70&h=50&fit=contain&f=webp&q=40'
    const { jobs, ...pool } = workers(transforms)
    const given = context()
    const made = await createChildRunner(pool)(planOf(transforms, query), assetOf(png, 'png'), given)
    expect((await readAll(made)).equals((await transformed(png, query)).bytes)).to.equal(true)
    expect(jobs[0]).to.include({ signal: given.signal, log: given.log, timeoutMs: 30_000 })
  })

  it('has its values, options, limits and log, and can read other files', async () => {
    const { transforms } = await loadWith({
      'curious.js': dropIn('curious', {
        options: '{ mine: 1 }',
        transform: `async (image, { curious }, { options, limits, log, asset, source }) => {
          const other = await asset('other.png')
          log.warn({ curious, options, side: limits.outputMaxSide, other: other.size, source }, 'seen')
        }`,
      }),
    })
    const given = context({ limits: { ...context().limits, outputMaxSide: 99 } })
    const asked: string[] = []
    const asset = async (name: string) => {
      asked.push(name)
      return assetOf(Buffer.from('12345'), 'png')
    }
    const source = assetOf(await picture({ width: 20, height: 10 }), 'png')
    const run = createChildRunner(workers(transforms))
    await run(planOf(transforms, 'curious'), source, { ...given, asset } as typeof given)
    expect(asked).to.deep.equal(['other.png'])
    const [line] = (given.log as unknown as { lines: Array<{ message: string; fields: { source: object } }> })
      .lines
    const { source: facts, ...fields } = line?.fields ?? { source: {} }
    expect(line?.message).to.equal('seen')
    expect(fields).to.deep.equal({ curious: true, options: { mine: 1 }, side: 99, other: 5 })
    expect(facts).to.include({ width: 20, height: 10, pages: 1, format: 'png' })
  })

  it('names the plugin that differs from the one at the start of the server', async () => {
    const first = await loadWith({ 'mine.js': dropIn('mine') })
    const edited = await loadWith({ 'mine.js': dropIn('mine', { phase: "'encode'" }) })
    const without = await loadWith({})
    for (const { transforms } of [edited, without]) {
      const run = createChildRunner(workers(transforms))
      const plan = planOf(first.transforms, 'mine')
      expect(await rejection(run(plan, assetOf(await picture(), 'png'), context()))).to.have.property(
        'message',
        'The plugin mine has changed on disk. Restart the server.',
      )
    }
  })
})
