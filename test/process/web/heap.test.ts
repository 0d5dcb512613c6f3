import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { startCollecting } from '../../../src/process/web/heap.ts'
import { eventually } from '../../support/eventually.ts'

describe('garbage collection in small steps', () => {
  it('collects old garbage while nothing else is allocated', async () => {
    let isCollected = false
    const registry = new FinalizationRegistry(() => {
      isCollected = true
    })
    await leaveOldGarbage(registry)
    await pause(300)
    expect(isCollected).to.equal(false)
    startCollecting()
    await eventually(() => expect(isCollected).to.equal(true))
  })

  it('uses no additional memory', () => {
    const before = process.memoryUsage.rss()
    startCollecting()
    expect(process.memoryUsage.rss() - before).to.be.below(16 * 1024 ** 2)
  })
})

/** An object that has survived some scavenges, so that only a full collection finds it. */
async function leaveOldGarbage(registry: FinalizationRegistry<undefined>): Promise<void> {
  const object = { rows: [1] }
  registry.register(object, undefined)
  for (let i = 0; i < 20; i += 1) {
    Array.from({ length: 100_000 }, (_, at) => ({ at }))
    await pause(1)
  }
  object.rows.push(2)
}
