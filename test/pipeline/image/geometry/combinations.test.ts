import { expect } from 'chai'
import { Problem } from '../../../../src/core/problem.ts'
import { animation, picture } from '../../../support/media/images.ts'
import { sized } from '../../../support/sized.ts'
import { numbers } from '../bytes/sources.ts'
import { transformed } from '../transform.ts'

const VALUES: Readonly<Record<string, readonly string[]>> = {
  w: ['1', '33', '90', '118'],
  h: ['1', '40', '95', '115'],
  fit: ['cover', 'contain', 'fill', 'inside', 'outside', 'crop'],
  dpr: ['1', '1.5', '2.7'],
  enlarge: [''],
  ar: ['1:1', '16:9', '1:30', '3.3:1'],
  func: ['auto', 'face', 'n', 'southeast'],
  fx: ['0', '0.3', '1'],
  fy: ['0', '0.77', '1'],
  z: ['1', '1.5', '10'],
  crop: ['0,0,10,10', '5,1,200,200', '3,1,1,1'],
  trim: ['', '50'],
  rotate: ['90', '33', '45', '-5.5'],
  flip: [''],
  flop: [''],
  pad: ['1', '5,3', '0,0,9,20'],
  rs: ['1', '20', '50'],
  bg: ['red', '00f8'],
  f: ['jpeg', 'png', 'webp', 'gif'],
}

// Low, so that many of the combinations would pass them.
const LIMITS = { outputMaxSide: 120, outputMaxPixels: 25_000 }
const TRIES = sized(25, 150)

describe('any combination of geometry parameters', () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="33.3" height="20.7"><circle r="9"/></svg>'
  for (const [seed, format, bytes] of [
    [1, 'jpeg', () => picture({ width: 60, height: 40, format: 'jpeg', orientation: 6 })],
    [2, 'gif', () => animation({ width: 41, height: 29 })],
    [3, 'webp', () => animation({ width: 41, height: 29, format: 'webp' })],
    [4, 'svg', async () => Buffer.from(svg)],
  ] as const) {
    it(`of a ${format} stays within the limits or is refused for them, with the same result every time`, async () => {
      const next = numbers(seed)
      const source = await bytes()
      let refused = 0
      for (let tries = 0; tries < TRIES; tries += 1) {
        const asked = Object.entries(VALUES).filter(() => next() < 0.25)
        const query = [
          ...asked.map(([name, values]) => `${name}=${values[Math.floor(next() * values.length)]}`),
          'q=70',
        ].join('&')
        const once = () => transformed(source, query, { format, limits: LIMITS })
        try {
          const { bytes: made, metadata } = await once()
          const { width = 0, pages = 1 } = metadata
          const height = metadata.pageHeight ?? metadata.height ?? 0
          expect(Math.max(width, height), query).to.be.at.most(LIMITS.outputMaxSide)
          expect(width * height * pages, query).to.be.at.most(LIMITS.outputMaxPixels)
          if (tries % 5 === 0) expect((await once()).bytes.equals(made), query).to.equal(true)
        } catch (error) {
          if (!(error instanceof Problem)) throw error
          expect([400, 422], `${query}: ${error.message}`).to.include(error.status)
          refused += 1
        }
      }
      expect(refused, 'not all, and not none').to.be.within(1, TRIES / 2)
    })
  }
})
