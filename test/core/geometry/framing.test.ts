import { expect } from 'chai'
import {
  cutAfterResizing,
  cutBeforeResizing,
  type Framing,
  framing,
  type Wanted,
} from '../../../src/core/geometry/framing.ts'

const SOURCE = { width: 400, height: 200 }
const frame = (wanted: Partial<Wanted>): Framing =>
  framing(SOURCE, { fit: 'cover', zoom: 1, maxScale: 1, maxSide: 5000, ...wanted })
const size = (width: number, height: number) => ({ width, height })
const any = Number.POSITIVE_INFINITY

describe('framing of an image of 400 x 200', () => {
  for (const [wanted, taken, made, canvas] of [
    [{}, [400, 200], [400, 200]],
    [{ width: 100 }, [400, 200], [100, 50]],
    [{ height: 100 }, [400, 200], [200, 100]],
    [{ width: 133 }, [400, 200], [133, 67]],
    [{ width: 1 }, [400, 200], [1, 1]],
    [{ width: 800 }, [400, 200], [400, 200]],
    [{ width: 800, maxScale: any }, [400, 200], [800, 400]],
    [{ height: 5000, maxScale: any }, [400, 200], [5000, 2500]],
    [{ width: 100, height: 100 }, [200, 200], [100, 100]],
    [{ width: 50, height: 150 }, [200 / 3, 200], [50, 150]],
    [{ width: 300, height: 600 }, [100, 200], [100, 200]],
    [{ width: 300, height: 600, maxScale: any }, [100, 200], [300, 600]],
    [{ width: 300, height: 600, maxScale: 2 }, [100, 200], [200, 400]],
    [{ width: 800, height: 800, fit: 'fill' }, [400, 200], [200, 200]],
    [{ width: 800, height: 800, fit: 'fill', maxScale: any }, [400, 200], [800, 800]],
    [{ width: 100, height: 100, fit: 'inside' }, [400, 200], [100, 50]],
    [{ width: 800, height: 800, fit: 'inside', maxScale: any }, [400, 200], [800, 400]],
    [{ width: 100, height: 100, fit: 'outside' }, [400, 200], [200, 100]],
    [{ width: 800, height: 800, fit: 'outside' }, [400, 200], [400, 200]],
    [{ width: 800, height: 800, fit: 'outside', maxScale: any }, [400, 200], [1600, 800]],
    [{ width: 4000, height: 4000, fit: 'outside', maxScale: any }, [400, 200], [5000, 2500]],
    [{ width: 100, height: 100, fit: 'contain' }, [400, 200], [100, 50], [100, 100]],
    [{ width: 100, height: 50, fit: 'contain' }, [400, 200], [100, 50]],
    [{ width: 800, height: 800, fit: 'contain' }, [400, 200], [400, 200], [800, 800]],
    [{ width: 800, height: 800, fit: 'contain', maxScale: any }, [400, 200], [800, 400], [800, 800]],
    [{ ratio: 1 }, [200, 200], [200, 200]],
    [{ ratio: 4 }, [400, 100], [400, 100]],
    [{ ratio: 16 / 9 }, [3200 / 9, 200], [356, 200]],
    [{ zoom: 2 }, [200, 100], [200, 100]],
    [{ zoom: 2, width: 100 }, [200, 100], [100, 50]],
    [{ zoom: 10, width: 100 }, [40, 20], [40, 20]],
    [{ zoom: 10, width: 100, maxScale: any }, [40, 20], [100, 50]],
    [{ zoom: 2, width: 50, height: 50 }, [100, 100], [50, 50]],
    [{ zoom: 2, ratio: 1 }, [100, 100], [100, 100]],
    [{ zoom: 2, width: 50, height: 50, fit: 'contain' }, [200, 100], [50, 25], [50, 50]],
    [{ width: 133, whole: Math.floor }, [400, 200], [133, 67]],
    [{ width: 133, zoom: 2, whole: Math.floor }, [200, 100], [133, 66]],
    [{ width: 5000, height: 3000, maxScale: 0.299, whole: Math.floor }, [1000 / 3, 200], [99, 59]],
  ] as const satisfies ReadonlyArray<
    readonly [Partial<Wanted>, readonly number[], readonly number[], (readonly number[])?]
  >) {
    it(`crops ${taken.map(Math.round).join(' x ')} to ${made.join(' x ')} for ${JSON.stringify(wanted)}`, () => {
      const framed = frame(wanted)
      expect(framed.taken.width).to.be.closeTo(taken[0], 1e-9)
      expect(framed.taken.height).to.be.closeTo(taken[1], 1e-9)
      expect(framed.size).to.deep.equal(size(made[0], made[1]))
      expect(framed.canvas).to.deep.equal(canvas && size(canvas[0], canvas[1]))
    })
  }

  it('limits the side that is not given', () => {
    const wanted: Wanted = { width: 10, fit: 'cover', zoom: 1, maxScale: any, maxSide: 5000 }
    expect(framing(size(1, 3000), wanted).size).to.deep.equal(size(2, 5000))
  })
})

describe('a crop', () => {
  it('can follow the resize of the whole image, within it', () => {
    const part = { left: 100, top: 0, width: 200, height: 200 }
    expect(cutAfterResizing(part, size(50, 50), SOURCE)).to.deep.equal({
      whole: size(100, 50),
      part: { left: 25, top: 0, width: 50, height: 50 },
    })
    for (const width of [1, 3, 7, 99, 199]) {
      for (const left of [0, 0.4, 123.5, 400 - 133.3]) {
        const cut = cutAfterResizing({ left, top: 50, width: 133.3, height: 66.7 }, size(width, 40), SOURCE)
        expect(cut.part.left).to.be.within(0, cut.whole.width - width)
        expect(cut.part.top).to.be.within(0, cut.whole.height - 40)
      }
    }
  })

  it('can precede the resize in whole pixels, at least one', () => {
    const part = { left: 399.8, top: 199.9, width: 0.2, height: 0.1 }
    expect(cutBeforeResizing(part, SOURCE)).to.deep.equal({ left: 399, top: 199, width: 1, height: 1 })
    const wide = { left: 10.6, top: 0, width: 66.6, height: 200 }
    expect(cutBeforeResizing(wide, SOURCE)).to.deep.equal({ left: 11, top: 0, width: 67, height: 200 })
  })
})
