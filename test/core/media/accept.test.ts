import { expect } from 'chai'
import { accepts } from '../../../src/core/media/accept.ts'

describe('accepts', () => {
  for (const [accept, expected] of [
    ['image/webp', true],
    ['text/html, IMAGE/WEBP ;q=0.1', true],
    ['image/webp;q=0.001', true],
    ['image/webp;q=0', false],
    ['image/webp ; Q=0.00', false],
    ['image/webpx, ximage/webp, image/*, */*', false],
    ['', false],
  ] as const) {
    it(`returns ${expected} for WebP and "${accept}"`, () => {
      expect(accepts(accept, 'image/webp')).to.equal(expected)
    })
  }
})
