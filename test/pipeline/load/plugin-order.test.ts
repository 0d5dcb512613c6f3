import { expect } from 'chai'
import { areInOrder, inOrder, SHIPPED_ORDER } from '../../../src/pipeline/load/plugin-order.ts'

describe('pipeline/load/plugin-order', () => {
  const steps = (...names: string[]) => names.map((name) => ({ plugin: { name, phase: 'effect' as const } }))

  it('areInOrder agrees with the arrangement of inOrder, also for plugins that are not shipped', () => {
    const [first = '', second = '', third = ''] = SHIPPED_ORDER
    const chains = [
      [],
      [first],
      [first, second, third],
      [second, first],
      [first, third, second],
      ['image-of-my-own'],
      [first, 'image-of-my-own'],
      ['b-of-my-own', 'a-of-my-own'],
    ]
    for (const names of chains) {
      const chain = steps(...names)
      const isArranged = inOrder(chain, []).every((step, i) => step === chain[i])
      expect(areInOrder(chain), names.join()).to.equal(isArranged)
    }
  })
})
