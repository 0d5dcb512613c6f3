import { expect } from 'chai'
import sharp from 'sharp'
import { everyNth } from '../../../support/sized.ts'
import { transformed } from '../transform.ts'

const SIZE = { width: 8, height: 6 }

/** An animation whose frames differ in brightness. */
async function animation(format: 'gif' | 'webp', { loop, delay }: { loop: number; delay: number[] }) {
  const frames = delay.map((_, i) => Buffer.alloc(SIZE.width * SIZE.height * 3, 40 * i + 10))
  const { width, height } = SIZE
  const raw = { width, height: height * delay.length, channels: 3 as const, pageHeight: height }
  const draft = sharp(Buffer.concat(frames), { raw })
  return (
    format === 'gif' ? draft.gif({ loop, delay }) : draft.webp({ loop, delay, lossless: true })
  ).toBuffer()
}

/** As browsers show it: a frame of at most 10 ms takes 100 ms. */
const shown = (delay: readonly number[] = []) => delay.map((ms) => (ms <= 10 ? 100 : ms))

describe('an animation of GIF or WebP', () => {
  for (const format of ['gif', 'webp'] as const)
    for (const loop of everyNth(3, [3, 0, 1]))
      it(`as ${format}, shown ${loop || 'any number of'} times, keeps its frames and times, whatever is done to it`, async () => {
        for (const delay of [
          [0, 0, 0],
          [10, 10, 10],
          [20, 20, 20],
          [100, 50, 300],
        ]) {
          const source = await animation(format, { loop, delay })
          // The last ones need more than one pass.
          for (const query of ['w=4', 'flip', 'rotate=30', 'w=4&rs=2', 'pad=1&blur=1'])
            for (const output of ['gif', 'webp']) {
              const { bytes } = await transformed(source, `${query}&f=${output}`, { format })
              const { pages, ...known } = await sharp(bytes, { animated: true }).metadata()
              expect(
                { pages, loop: known.loop, delay: shown(known.delay) },
                `${delay} ${query} ${output}`,
              ).to.deep.equal({ pages: 3, loop, delay: shown(delay) })
            }
        }
      })

  it('with one frame is a still image', async () => {
    for (const format of ['gif', 'webp'] as const) {
      const source = await animation(format, { loop: 3, delay: [200] })
      for (const output of ['gif', 'webp', 'png', 'avif']) {
        const { bytes } = await transformed(source, `w=4&f=${output}`, { format })
        const { pages = 1, width } = await sharp(bytes, { animated: true }).metadata()
        expect({ pages, width }, output).to.deep.equal({ pages: 1, width: 4 })
      }
    }
  })
})
