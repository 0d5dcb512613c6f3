import { expect } from 'chai'
import { knownFormat } from '../../../src/core/media/formats.ts'
import { formatTooSmall } from '../../../src/core/transform-problems.ts'
import type { Plan, PlanInput, Planner } from '../../../src/pipeline/plan/plan.ts'
import { withFallback } from '../../../src/pipeline/plan/with-fallback.ts'
import { rejection } from '../../support/rejection.ts'

describe('the fallback to another format', () => {
  /** Plans the first of these formats that was not too small; the last one remains. */
  const planner =
    (formats: readonly string[]): Planner =>
    ({ tooSmall = [] }) => {
      const variant = formats.find((format) => !tooSmall.includes(format)) ?? formats.at(-1) ?? ''
      return { steps: [], variant, variesBy: ['accept'], notes: [] }
    }
  const input: PlanInput = { query: [['f', 'auto']], format: knownFormat('png'), preferences: {} }
  const limitOf = (format: string) => formatTooSmall({ format, maxSide: 100 })

  async function rendered(formats: readonly string[], fits: (format: string) => boolean) {
    const tried: Array<[variant: string, isFallback: boolean]> = []
    const plan = planner(formats)
    const render = async ({ variant }: Plan, { isFallback }: { isFallback: boolean }) => {
      tried.push([variant, isFallback])
      if (!fits(variant)) throw limitOf(variant)
      return variant
    }
    const outcome = await withFallback(plan, { plan: plan(input), input }, render).catch((error) => error)
    return { tried, outcome }
  }

  it('is not needed when the first format can hold the image', async () => {
    const { tried, outcome } = await rendered(['avif', 'webp'], () => true)
    expect(outcome).to.equal('avif')
    expect(tried).to.deep.equal([['avif', false]])
  })

  it('goes from format to format, and each one is tried once', async () => {
    const { tried, outcome } = await rendered(['avif', 'webp', 'png'], (format) => format === 'png')
    expect(outcome).to.equal('png')
    expect(tried).to.deep.equal([
      ['avif', false],
      ['webp', true],
      ['png', true],
    ])
  })

  it('ends with the last error when no format is left', async () => {
    const { tried, outcome } = await rendered(['avif', 'webp'], () => false)
    expect(outcome).to.include({ status: 422, code: 'format_too_small' })
    expect(outcome.members.format).to.equal('webp')
    expect(tried.map(([variant]) => variant)).to.deep.equal(['avif', 'webp'])
  })

  it('is no answer to another error', async () => {
    const plan = planner(['avif', 'webp'])
    const failing = withFallback(plan, { plan: plan(input), input }, async () => {
      throw new Error('no memory')
    })
    expect(await rejection(failing)).to.have.property('message', 'no memory')
  })
})
