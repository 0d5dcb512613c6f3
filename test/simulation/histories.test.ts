import { expect } from 'chai'
import { playHistory } from './history.ts'

// `npm run simulate` plays others, and far more of them.
const FIRST_SEED = 1
const COUNT = 150

describe('random histories of several processes on stores that fail', () => {
  it(`keep all laws: ${COUNT} of them`, async () => {
    const broken: string[] = []
    for (let seed = FIRST_SEED; seed < FIRST_SEED + COUNT; seed += 1) {
      const { violations } = await playHistory(seed)
      for (const one of violations) broken.push(`seed ${seed}: ${one}`)
    }
    expect(broken).to.deep.equal([])
  })

  it('are the same for the same seed', async () => {
    const story = async () => (await playHistory(7, { tells: true })).story
    const first = await story()
    expect(first.length).to.be.greaterThan(20)
    expect(await story()).to.deep.equal(first)
  })
})
