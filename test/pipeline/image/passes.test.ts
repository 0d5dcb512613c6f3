import { expect } from 'chai'
import type { Engine, EngineName } from '../../../src/core/plugin-api/plugin.ts'
import { sharpEngine } from '../../support/media/engines.ts'
import { animation, picture } from '../../support/media/images.ts'
import { transformed } from './transform.ts'

/** The image engine with its passes counted. */
function counted() {
  const counts = { settled: 0, framed: 0 }
  const engine: Engine<'sharp'> = {
    ...sharpEngine,
    settle(...given) {
      counts.settled += 1
      return sharpEngine.settle(...given)
    },
    frames(...given) {
      counts.framed += 1
      return sharpEngine.frames(...given)
    },
  }
  return { counts, engines: new Map<EngineName, Engine>([['sharp', engine]]) }
}

describe('sharp needs one pass', () => {
  for (const query of [
    'w=30',
    'w=30&h=30',
    'w=30&h=30&func=north',
    'w=30&h=30&func=auto',
    'w=30&h=30&fx=0.2&z=2',
    'w=30&h=30&fit=contain',
    'crop=0,0,30,30&w=20',
    'w=300&enlarge',
    'ar=1:1',
    'w=30&rotate=30&f=jpeg&q=75',
    'w=30&bg=red&f=jpeg',
  ]) {
    it(`for ${query}`, async () => {
      const { counts, engines } = counted()
      await transformed(await picture({ width: 60, height: 40, format: 'jpeg' }), query, {
        format: 'jpeg',
        engines,
      })
      expect(counts).to.deep.equal({ settled: 0, framed: 0 })
    })
  }

  for (const query of ['w=30', 'w=30&h=30&func=north', 'crop=0,0,30,30&w=20', 'w=30&h=30&fit=contain']) {
    it(`for an animation with ${query}`, async () => {
      const { counts, engines } = counted()
      await transformed(await animation(), query, { format: 'gif', engines })
      expect(counts).to.deep.equal({ settled: 0, framed: 0 })
    })
  }
})
