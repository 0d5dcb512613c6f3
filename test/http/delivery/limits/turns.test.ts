import { availableParallelism } from 'node:os'
import { expect } from 'chai'
import { eventually } from '../../../support/eventually.ts'
import { sharpEngine } from '../../../support/media/engines.ts'
import { picture } from '../../../support/media/images.ts'
import { newClient, uploadOne } from '../../../support/requests/client.ts'
import { exchange } from '../../../support/requests/exchange.ts'
import { type Service, startService } from '../../../support/service.ts'

const STRANGER = '127.0.0.2'
const NEWCOMER = '127.0.0.3'
// More than run at once, whatever the machine.
const CROWD = availableParallelism() + 10

const ROOM = { TRANSFORM_WAITING: '4000', TRANSFORM_WAITING_ADDRESS: '1000' }

/** The image engine, whose work on sources of this size waits, in reading the header or in opening it. */
function slowEngine() {
  let slowBytes: number | undefined
  let where: 'forecast' | 'open' = 'open'
  let release = () => {}
  let released = Promise.resolve()
  let held = 0
  const pass = async (here: typeof where, size: number) => {
    if (here !== where || size !== slowBytes) return
    held += 1
    await released
  }
  const engine: typeof sharpEngine = {
    ...sharpEngine,
    async forecast(source, ...rest) {
      await pass('forecast', source.size)
      return sharpEngine.forecast(source, ...rest)
    },
    async open(source, ...rest) {
      await pass('open', source.size)
      return sharpEngine.open(source, ...rest)
    },
  }
  return {
    engine,
    /** From now on. */
    hold(size: number, in_: typeof where) {
      slowBytes = size
      where = in_
      held = 0
      released = new Promise((resolve) => {
        release = resolve
      })
    },
    held: () => held,
    release: () => release(),
  }
}

describe('turns of new derivatives', () => {
  const slow = slowEngine()
  let service: Service
  before(async () => {
    service = await startService({
      // As scripts/node.sh has it: three slots more than there are cores.
      env: { TRUST_PROXY: '1', UV_THREADPOOL_SIZE: String(availableParallelism() + 5), ...ROOM },
      engines: [slow.engine],
    })
  })
  afterEach(() => slow.release())
  after(() => service.stop())

  const from = (address: string, url: string) =>
    exchange(service, url, { headers: { 'X-Forwarded-For': address } })

  for (const [in_, atOnce] of [
    ['open', availableParallelism() + 1],
    ['forecast', 2],
  ] as const)
    it(`leave a slot for a new address while another one waits for long work (${in_})`, async () => {
      const other = await newClient(service)
      const bytes = await picture({ width: 300, height: in_ === 'open' ? 200 : 201 })
      const attacked = await uploadOne(other, { name: 'attacked.png', bytes })
      const mine = await uploadOne(service, { name: 'mine.png', bytes: await picture({ width: 90 }) })
      slow.hold(bytes.length, in_)
      const crowd = Array.from({ length: CROWD }, (_, i) => from(STRANGER, `${attacked.src}?w=${100 + i}`))
      await eventually(() => expect(slow.held()).to.equal(atOnce))
      for (const width of [20, 21, 22])
        expect((await from(NEWCOMER, `${mine.src}?w=${width}`)).status).to.equal(200)
      expect((await from(NEWCOMER, '/healthz')).status).to.equal(200)
      expect(slow.held(), 'of the crowd').to.equal(atOnce)
      slow.release()
      for (const { status } of await Promise.all(crowd)) expect(status).to.equal(200)
    })
})
