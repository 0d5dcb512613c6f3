import { expect } from 'chai'
import { createPasswords } from '../../../src/service/members/passwords.ts'

describe('passwords', () => {
  const passwords = createPasswords()
  // Each derivation with the usual cost takes 0.3 s of CPU time.
  const quick = createPasswords({ cost: { N: 1024, r: 8, p: 1 } })

  it('match their own digest alone, whose salt is new each time', async () => {
    const [one, other] = [await quick.digest('a password'), await quick.digest('a password')]
    expect(one).not.to.equal(other)
    expect(await quick.matches('a password', one)).to.equal(true)
    expect(await quick.matches('A password', one)).to.equal(false)
    expect(await quick.matches('', one)).to.equal(false)
    const usual = await passwords.digest('a password')
    expect(usual).to.match(/^scrypt\$32768\$8\$3\$[\w-]{22}\$[\w-]{43}$/)
    expect(await passwords.matches('a password', usual)).to.equal(true)
  })

  it('match in any way in which a keyboard writes a character', async () => {
    const digest = await quick.digest('cafe\u0301 cafe\u0301')
    expect(await quick.matches('caf\u00e9 caf\u00e9', digest)).to.equal(true)
  })

  it('match a digest with another cost', async () => {
    const digest = await quick.digest('a password')
    expect(await passwords.matches('a password', digest)).to.equal(true)
  })

  it('are derived two at a time, also for a member who does not exist, and refused when many wait', async () => {
    const tries = await Promise.allSettled(Array.from({ length: 20 }, () => quick.matches('x', undefined)))
    const refused = tries.filter(({ status }) => status === 'rejected')
    expect(refused).to.have.length(2)
    expect(refused[0]).to.nested.include({ 'reason.status': 503, 'reason.members.retryAfterSeconds': 5 })
    expect(await quick.matches('x', undefined)).to.equal(false)
  })
})
