import { expect } from 'chai'
import { openLimits } from '../../../src/adapters/rate-limiter/limits.ts'
import { memoryRateLimiter } from '../../../src/adapters/rate-limiter/memory.ts'
import { type CpuPayer, createCpuTime, isOutOfCpuTime } from '../../../src/core/budgets/cpu-time.ts'
import { rejection } from '../../support/rejection.ts'

const RATE = { points: 1000, addressPoints: 500, seconds: 60 }

function cpuTime(rate = RATE) {
  return createCpuTime(openLimits(() => rate, memoryRateLimiter).cpu)
}

const stranger = (host: number, clientId = 'a'): CpuPayer => ({
  clientId,
  caller: { address: `127.0.0.${host}`, isTrusted: false },
})
const owner: CpuPayer = { clientId: 'a', caller: { address: '127.0.0.1', isTrusted: true } }

describe('CPU time limits', () => {
  it('refuse an address that has used up its time, for every client, and no other address', async () => {
    const budget = cpuTime()
    await budget.check(stranger(1))
    await budget.charge(stranger(1), 499.2)
    const problem = await rejection(budget.check(stranger(1, 'b')))
    expect(problem).to.deep.include({
      status: 429,
      code: 'rate_limited',
      members: { limit: 'cpu_address', retryAfterSeconds: 60 },
      message:
        'The new transformations of your IP address have used up their CPU time (0.5 s in 60 s). Retry after 60 s.',
    })
    expect(problem).to.have.deep.property('headers', {
      'Retry-After': '60',
      'RateLimit-Policy': '"cpu_address";q=500;w=60',
      RateLimit: '"cpu_address";r=0;t=60',
    })
    expect(isOutOfCpuTime(problem)).to.equal(true)
    await budget.check(stranger(2))
  })

  it('allow work while a millisecond is left, whatever it costs', async () => {
    const budget = cpuTime()
    await budget.charge(stranger(1), 499)
    await budget.check(stranger(1))
  })

  it('of a client: all untrusted callers share one account, trusted callers another', async () => {
    const budget = cpuTime()
    for (const host of [1, 2, 3]) await budget.charge(stranger(host), 400)
    expect(await rejection(budget.check(stranger(4)))).to.have.nested.property('members.limit', 'cpu')
    await budget.check(stranger(4, 'b'))
    await budget.check(owner)
    await budget.charge(owner, 1000)
    expect(await rejection(budget.check(owner))).to.have.nested.property('members.limit', 'cpu')
  })

  it('charge nothing to the address of a trusted caller', async () => {
    const budget = cpuTime()
    await budget.charge(owner, 600)
    await budget.check(owner)
    await budget.check(stranger(1))
  })

  it('can be set or disabled per client', async () => {
    const budget = cpuTime()
    const few = { ...owner, rates: { cpu: 10 } }
    await budget.charge(few, 10)
    expect(await rejection(budget.check(few))).to.have.property('status', 429)
    const none = { ...owner, clientId: 'b', rates: { cpu: 0 } }
    await budget.charge(none, 1e6)
    await budget.check(none)
  })

  it('are disabled by 0 points', async () => {
    const budget = cpuTime({ points: 0, addressPoints: 0, seconds: 60 })
    await budget.charge(stranger(1), 1e6)
    await budget.check(stranger(1))
  })
})
