import { expect } from 'chai'
import { createRefCounted, type RefCounted } from '../../../src/core/async/ref-counted.ts'
import { singleFlight } from '../../../src/core/async/single-flight.ts'
import { rejection } from '../../support/rejection.ts'

describe('shared work with a result that must be released', () => {
  let uses: RefCounted<number>
  let begun: Array<{ answer: (value: number) => void; fail: (error: Error) => void; signal: AbortSignal }>
  let ended: number
  const never = new AbortController().signal

  beforeEach(() => {
    uses = createRefCounted()
    begun = []
    ended = 0
  })

  const hold = (name: string, signal = never) =>
    uses.hold(
      name,
      () => ({
        work: singleFlight<number>(
          (given, answer) =>
            new Promise<void>((done, fail) => {
              given.addEventListener('abort', () => fail(given.reason))
              const settle = (value: number) => {
                answer(value)
                done()
              }
              begun.push({ answer: settle, fail, signal: given })
            }),
          { limitMs: 5000 },
        ),
        async end() {
          ended += 1
        },
      }),
      signal,
    )
  const turn = () => new Promise((done) => setTimeout(done, 5))

  it('runs once, and is released by its last user', async () => {
    const asked = [hold('a'), hold('a'), hold('a')]
    await turn()
    expect(begun).to.have.length(1)
    begun[0]?.answer(7)
    const held = await Promise.all(asked)
    expect(held.map(({ value }) => value)).to.deep.equal([7, 7, 7])
    for (const one of held) {
      await turn()
      expect(ended).to.equal(0)
      one.release()
      one.release()
    }
    await uses.idle()
    expect(ended).to.equal(1)
  })

  it('runs again for a caller after its end, while others still use the result', async () => {
    const first = hold('a')
    await turn()
    begun[0]?.answer(1)
    const held = await first
    await turn()
    const second = hold('a')
    await turn()
    begun[1]?.answer(2)
    expect((await second).value).to.equal(2)
    expect(ended).to.equal(0)
    held.release()
    await uses.idle()
    expect(ended).to.equal(1)
  })

  it('runs once per name', async () => {
    const asked = [hold('a'), hold('b')]
    await turn()
    expect(begun).to.have.length(2)
    for (const [i, one] of begun.entries()) one.answer(i)
    expect((await Promise.all(asked)).map(({ value }) => value)).to.deep.equal([0, 1])
  })

  it('is released when it fails, and all callers get the error', async () => {
    const asked = [rejection(hold('a')), rejection(hold('a'))]
    await turn()
    begun[0]?.fail(new Error('broken'))
    for (const error of await Promise.all(asked)) expect(error).to.have.property('message', 'broken')
    await turn()
    await uses.idle()
    expect(ended).to.equal(1)
  })

  it('is aborted and released when its last caller leaves, and runs again for the next', async () => {
    const [one, two] = [new AbortController(), new AbortController()]
    const asked = [rejection(hold('a', one.signal)), rejection(hold('a', two.signal))]
    await turn()
    one.abort()
    await turn()
    expect(begun[0]?.signal.aborted).to.equal(false)
    two.abort()
    await Promise.all(asked)
    expect(begun[0]?.signal.aborted).to.equal(true)
    const next = hold('a')
    await turn()
    expect(begun).to.have.length(2)
    begun[1]?.answer(3)
    expect((await next).value).to.equal(3)
    expect(ended).to.equal(1)
  })

  it('does not start for a caller that has aborted already', async () => {
    await rejection(hold('a', AbortSignal.abort()))
    expect(begun).to.have.length(0)
  })
})
