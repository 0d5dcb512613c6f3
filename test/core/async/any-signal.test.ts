import { getEventListeners } from 'node:events'
import { expect } from 'chai'
import { anySignal } from '../../../src/core/async/any-signal.ts'

describe('a joined signal', () => {
  let one: AbortController
  let two: AbortController
  beforeEach(() => {
    one = new AbortController()
    two = new AbortController()
  })
  const listeners = () => [one, two].map(({ signal }) => getEventListeners(signal, 'abort').length)

  it('aborts once, with the reason of the first signal that aborts', () => {
    const { signal } = anySignal([one.signal, two.signal])
    let times = 0
    signal.addEventListener('abort', () => {
      times += 1
    })
    expect(signal.aborted).to.equal(false)
    two.abort('second')
    one.abort('first')
    expect([signal.aborted, signal.reason, times]).to.deep.equal([true, 'second', 1])
  })

  it('is aborted from the start when one of the signals is aborted already', () => {
    two.abort('before')
    expect(anySignal([one.signal, two.signal]).signal.reason).to.equal('before')
    expect(listeners()).to.deep.equal([0, 0])
  })

  it('removes its listeners from the other signals after an abort, or after leave()', () => {
    const { signal, leave } = anySignal([one.signal, two.signal])
    anySignal([one.signal])
    expect(listeners()).to.deep.equal([2, 1])
    leave()
    expect(listeners()).to.deep.equal([1, 0])
    one.abort()
    two.abort()
    expect(listeners()).to.deep.equal([0, 0])
    expect(signal.aborted).to.equal(false)
  })
})
