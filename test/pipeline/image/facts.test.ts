import { expect } from 'chai'
import { animation, picture } from '../../support/media/images.ts'
import { sized } from '../../support/sized.ts'
import { dropIn, loadWith } from '../load/drop-ins.ts'
import { transformed } from './transform.ts'

const FORMATS = ['jpeg', 'gif', 'svg'] as const

const told = () => (globalThis as unknown as { told: Record<string, unknown> }).told

// Steps that come with Sluice tell what they make of the picture, so that the next one need not have it rendered.
describe('the source that a transformation receives', () => {
  const tell = async (phase: string) =>
    loadWith({
      'tell.js': dropIn('tell', {
        phase: `'${phase}'`,
        transform: '(image, _, { source }) => { globalThis.told = source; return image }',
      }),
    })
  let afterEffects: Awaited<ReturnType<typeof tell>>
  before(async () => {
    afterEffects = await tell('effect')
  })

  for (const [i, query] of [
    'w=100',
    'w=100&h=100',
    'w=100&h=30&fit=contain',
    'w=33&h=77&fit=fill',
    'w=31&fx=0',
    'w=30&h=30&func=auto',
    'w=20&h=20&dpr=2',
    'z=3',
    'z=7&w=300&enlarge',
    'ar=16:9',
    'crop=10,10,50,30',
    'crop=300,100,500,500',
    'rotate=90',
    'rotate=30',
    'w=50&rotate=270',
    'flip',
    'flop&w=9',
    'trim',
  ].entries()) {
    // What has frames, or is drawn in a size, differs in few of the steps.
    for (const format of sized<readonly (typeof FORMATS)[number][]>(
      i % 3 === 0 ? FORMATS : ['jpeg'],
      FORMATS,
    )) {
      it(`describes the image after ${query}, of a ${format}`, async () => {
        const { transforms } = afterEffects
        const source =
          format === 'gif'
            ? await animation({ width: 400, height: 200 })
            : format === 'svg'
              ? Buffer.from(
                  '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200"><rect width="400" height="200" fill="red"/></svg>',
                )
              : await picture({ width: 400, height: 200, format })
        const { metadata } = await transformed(source, `${query}&tell`, { format, transforms })
        const { width, height, pages, hasAlpha } = told()
        expect({ width, height, pages }).to.deep.equal({
          width: metadata.width,
          height: metadata.pageHeight ?? metadata.height,
          pages: metadata.pages ?? 1,
        })
        // What is drawn or made of pixels may have alpha that shows nothing; what has none must not.
        if (format === 'jpeg')
          expect(hasAlpha).to.equal(query === 'w=100&h=30&fit=contain' || query === 'rotate=30')
      })
    }
  }

  it('has the device pixel ratio', async () => {
    const { transforms } = await tell('compose')
    const wide = await picture({ width: 400, height: 200 })
    for (const [query, dpr] of [
      ['w=20&dpr=2', 2],
      ['w=20&dpr=2.5&rotate=90', 2.5],
      ['w=20', 1],
      ['dpr=2', 1],
    ] as const) {
      await transformed(wide, `${query}&tell`, { transforms })
      expect(told(), query).to.include({ dpr })
    }
  })
})
