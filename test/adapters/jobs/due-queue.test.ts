import { expect } from 'chai'
import { createDueQueue, type Due } from '../../../src/adapters/jobs/due-queue.ts'
import { seededRandom } from '../../contracts/random.ts'

describe('a queue of due items', () => {
  it('has no first item when it is empty', () => {
    const queue = createDueQueue()
    expect(queue.first()).to.equal(undefined)
    queue.add({ dueAt: 1, turn: 1 })
    queue.removeFirst()
    expect(queue.first()).to.equal(undefined)
  })

  it('is always in order, whatever is added and removed', () => {
    const random = seededRandom(7)
    const queue = createDueQueue()
    let model: Due[] = []
    for (let turn = 0; turn < 2000; turn += 1) {
      if (random.below(3) === 0) {
        queue.removeFirst()
        model = model.slice(1)
      } else {
        const item = { dueAt: random.below(40), turn }
        queue.add(item)
        model = [...model, item].sort((a, b) => a.dueAt - b.dueAt || a.turn - b.turn)
      }
      expect(queue.first()).to.equal(model[0])
    }
  })

  it('looks at each of many items a few times only', () => {
    const count = 2 ** 14
    let looks = 0
    const counted = (turn: number): Due => ({
      turn,
      get dueAt() {
        looks += 1
        return turn % 1000
      },
    })
    const queue = createDueQueue()
    for (let turn = 0; turn < count; turn += 1) queue.add(counted(turn))
    for (let turn = 0; turn < count; turn += 1) queue.removeFirst()
    expect(queue.first()).to.equal(undefined)
    // Its heap has 14 levels. A comparison looks at most four times, and an item meets two others in each level.
    expect(looks).to.be.below(count * 14 * 3 * 4)
  })
})
