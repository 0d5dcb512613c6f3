import { expect } from 'chai'
import { assetFromBytes } from '../../../src/core/bytes/asset.ts'
import { COPY_SIDE, type ProxyName, type Reducible } from '../../../src/core/media/smaller-copies.ts'
import type { Problem } from '../../../src/core/problem.ts'
import { takesTooLong, takesTooMuchMemory } from '../../../src/core/transform-problems.ts'
import type { Plan } from '../../../src/pipeline/plan/plan.ts'
import { createSmallerCopies } from '../../../src/pipeline/run/smaller-copies.ts'
import { rejection } from '../../support/rejection.ts'
import { context } from '../image/transform.ts'

const assetOf = (text: string) =>
  assetFromBytes(Buffer.from(text), { mediaType: 'image/heic', lastModified: new Date(0) })
const source = { ...assetOf('source'), sha256: 'a' }
const full = { width: 4000, height: 3000, format: 'heic' }
const slow: Reducible = { full, scale: 0.1, shrinksOnLoad: false, isSlow: true }

describe('smaller copies of an image', () => {
  it('are decoded once for its first output and its proxy, if decoding is slow', async () => {
    const copies = createSmallerCopies({ proxyFromPixels: 12_000_000, pixels: () => ({}) as Plan })
    let decodes = 0
    const decode = async () => {
      decodes += 1
      return assetOf('pixels')
    }
    const rendered: string[] = []
    const from = (what: string) => async (copy: { size: number } | undefined) => {
      rendered.push(`${what} from ${copy ? 'pixels' : 'source'}`)
      return assetOf(what)
    }
    let made: Promise<unknown> | undefined
    const proxies = {
      isForCopy: false,
      find: async () => undefined,
      askFor: () => undefined,
      async make({ side }: ProxyName) {
        if (side !== COPY_SIDE) return
        // As the index and the locks are read first.
        await new Promise((resolve) => setTimeout(resolve, 5))
        made = copies.render(
          { bytes: 1, mayHang: true, source, reducible: { ...slow, scale: 0.64 } },
          { context: context(), decode, render: from('proxy') },
        )
        await made
      },
    }
    const forecast = { bytes: 1, mayHang: true, source, reducible: slow }
    const tools = { context: context({ proxies }), decode, render: from('output') }
    const outputs = await Promise.all([copies.render(forecast, tools), copies.render(forecast, tools)])
    expect(outputs).to.have.length(2)
    while (!made) await new Promise((resolve) => setTimeout(resolve, 5))
    await made
    expect(rendered).to.include.members(['output from pixels', 'proxy from pixels'])
    expect(rendered.join()).to.not.include('source')
    expect(decodes).to.equal(1)
  })

  it('are decoded once if that takes too long: the source would take as long again', async () => {
    const copies = createSmallerCopies({ proxyFromPixels: 0, pixels: () => ({}) as Plan })
    let renders = 0
    const outcomeOf = (problem: Problem) =>
      copies.render(
        { bytes: 1, mayHang: true, source, reducible: slow },
        {
          context: context(),
          decode: () => Promise.reject(problem),
          async render() {
            renders += 1
            return assetOf('output')
          },
        },
      )
    const tooSlow = takesTooLong('image')
    expect(await rejection(outcomeOf(tooSlow))).to.equal(tooSlow)
    expect(renders).to.equal(0)
    // Without the pixels in memory, it may suffice.
    await outcomeOf(takesTooMuchMemory('image'))
    expect(renders).to.equal(1)
  })

  it('are used for one output alone only if decoding is slow', async () => {
    const copies = createSmallerCopies({ proxyFromPixels: 0, pixels: () => ({}) as Plan })
    const { isSlow: _, ...fast } = slow
    for (const [reducible, used] of [
      [slow, true],
      [fast, false],
    ] as const) {
      let isUsed: boolean | undefined
      await copies.render(
        { bytes: 1, mayHang: true, source, reducible },
        {
          context: context(),
          decode: async () => assetOf('pixels'),
          async render(copy) {
            isUsed = copy !== undefined
            return assetOf('output')
          },
        },
      )
      expect(isUsed).to.equal(used)
    }
  })

  it('are decoded for one output alone when a proxy is worth its cost, which is rendered from the same pixels', async () => {
    const copies = createSmallerCopies({ proxyFromPixels: 12_000_000, pixels: () => ({}) as Plan })
    const { isSlow: _, ...fast } = slow
    for (const side of [undefined, 1440] as const) {
      const asked: unknown[] = []
      const made: unknown[] = []
      const proxies = {
        isForCopy: false,
        find: async () => undefined,
        askFor(...args: unknown[]) {
          asked.push(args)
          return side
        },
        async make(...args: unknown[]) {
          made.push(args)
        },
      }
      let isFromPixels: boolean | undefined
      await copies.render(
        { bytes: 1, mayHang: true, source, reducible: fast },
        {
          context: context({ proxies }),
          decode: async () => assetOf('pixels'),
          async render(copy) {
            isFromPixels = copy !== undefined
            return assetOf('output')
          },
        },
      )
      // Of 400 px: the smallest proxy that suffices has 1,440.
      expect(asked).to.deep.equal([[{ side: 1440, page: 1 }, { fromLarger: false }]])
      expect(isFromPixels).to.equal(side !== undefined)
      expect(made).to.deep.equal(side ? [[{ side, page: 1 }, { atOnce: true }]] : [])
    }
  })
})
