import { expect } from 'chai'
import { failureFields, logReason } from '../../src/core/log-reason.ts'
import { Problem } from '../../src/core/problem.ts'

const remote = (cause?: unknown) =>
  new Problem({ status: 502, code: 'remote_failed', detail: 'the remote server broke off', cause })

describe('the reason of a failure in the log', () => {
  it('is one line of at most 300 characters, whatever the other server sends', () => {
    const reason = logReason(remote(new Error(`bad\n\u001b[31m header\u2028${'x'.repeat(5000)}`)))
    expect(reason).to.match(/^the remote server broke off: bad \[31m header x+…$/)
    expect(reason).to.have.length(301)
  })

  it('includes each cause once, and stops in a circular chain of causes', () => {
    const wrapped = new Error('ECONNREFUSED')
    expect(logReason(new Error('it failed: ECONNREFUSED', { cause: wrapped }))).to.equal(
      'it failed: ECONNREFUSED',
    )
    wrapped.cause = wrapped
    expect(logReason(wrapped)).to.equal('ECONNREFUSED')
  })

  it('replaces the stack only when another server has failed', () => {
    expect(failureFields(new Error('a try failed', { cause: remote() }))).to.deep.equal({
      reason: 'a try failed: the remote server broke off',
    })
    const ours = new Error('ours')
    expect(failureFields(ours)).to.deep.equal({ err: ours })
  })
})
