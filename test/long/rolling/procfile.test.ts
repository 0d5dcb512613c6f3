import { expect } from 'chai'
import { type Dyno, type Installation, install } from './installation.ts'

const TYPES = ['web', 'worker'] as const

describe('long: a restart of each process of the Procfile, one after the other, as on Heroku', function () {
  this.timeout(900_000)
  let installation: Installation
  before(async () => {
    installation = await install({ webs: 2 })
  })
  after(() => installation.end())

  it('fails no request, loses no file, and ends each job once', async () => {
    await installation.release()
    const places = TYPES.flatMap((type) => [0, 1].map((place) => ({ type, place })))
    const dynos = new Map<string, Dyno>()
    const begin = async (place: (typeof places)[number]) =>
      void dynos.set(JSON.stringify(place), await installation.start(place))
    await Promise.all(places.map(begin))

    const load = await installation.load()
    await load.round()
    for (const place of places) {
      const slow = place.type === 'web' ? await load.beginSlow() : undefined
      if (place.type === 'worker') await load.runningJobs(2)
      await dynos.get(JSON.stringify(place))?.stop()
      await begin(place)
      await slow?.ended
      await load.round()
    }
    await load.stop()
    expect(load.busy.length, load.busy.join('\n')).to.be.below(10)
    expect(load.failures).to.deep.equal([])
    await load.compare()

    for (const dyno of dynos.values()) await dyno.stop()
    await installation.fleet.sweptLater()
    expect(load.differences(await installation.fleet.state())).to.deep.equal([])
    expect(await installation.leftOnDisks()).to.deep.equal([])
    expect(await installation.findings()).to.deep.equal([])
  })
})
