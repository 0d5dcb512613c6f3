import { expect } from 'chai'
import { isLimitProblem, outputTooLarge, tooManyVariants } from '../../src/core/limit-problems.ts'
import {
  badParameter,
  badPath,
  fileNotFound,
  Problem,
  storageFull,
  tooLarge,
  unavailable,
} from '../../src/core/problem.ts'
import { formatTooSmall, notDecodable, notTransformable } from '../../src/core/transform-problems.ts'

describe('problems', () => {
  it('are errors with status, code, detail, members and headers', () => {
    const cause = new Error('for the log')
    const problem = new Problem({ status: 418, code: 'teapot', detail: 'no coffee here', cause })
    expect(problem).to.be.instanceOf(Error)
    expect(problem).to.include({
      name: 'Problem',
      status: 418,
      code: 'teapot',
      message: 'no coffee here',
      cause,
    })
    expect(problem.members).to.deep.equal({})
    expect(problem.headers).to.deep.equal({})
  })

  it('have a cause only when one is given', () => {
    expect('cause' in fileNotFound()).to.equal(false)
    expect(notTransformable('broken', 'why').cause).to.equal('why')
  })

  it('cross processes as JSON, without their cause', () => {
    const json = {
      status: 503,
      code: 'unavailable',
      detail: 'Redis is down.',
      members: { retryAfterSeconds: 5 },
      headers: { 'Retry-After': '5' },
    }
    const text = JSON.stringify(new Problem({ ...json, cause: new Error('secret host') }))
    expect(JSON.parse(text)).to.deep.equal(json)
    const copy = Problem.fromJSON(JSON.parse(text))
    expect(copy).to.be.instanceOf(Problem)
    expect(copy.toJSON()).to.deep.equal(json)
    expect('cause' in copy).to.equal(false)
  })

  it('omit empty members and headers from their JSON', () => {
    expect(fileNotFound().toJSON()).to.have.all.keys('status', 'code', 'detail')
    expect(Problem.fromJSON(fileNotFound().toJSON())).to.deep.include({ members: {}, headers: {} })
    expect(tooLarge('a file', 10).toJSON()).to.have.all.keys('status', 'code', 'detail', 'members')
    const inHeaders = new Problem({ status: 405, code: 'x', detail: 'x', headers: { Allow: 'GET' } })
    expect(inHeaders.toJSON()).to.have.all.keys('status', 'code', 'detail', 'headers')
  })

  it('have copies with more members, headers, another text or another cause', () => {
    const cause = new Error('ECONNREFUSED')
    const problem = unavailable('Redis is down.', { cause })
    const copy = problem.with({ members: { transform: 1 }, headers: { Connection: 'close' } })
    expect(copy).to.include({ status: 503, code: 'unavailable', message: 'Redis is down.', cause })
    expect(copy.members).to.deep.equal({ retryAfterSeconds: 5, transform: 1 })
    expect(copy.headers).to.deep.equal({ 'Retry-After': '5', Connection: 'close' })
    expect(problem.members).to.deep.equal({ retryAfterSeconds: 5 })
    const later = problem.with({ members: { retryAfterSeconds: 9 }, headers: { 'Retry-After': '9' } })
    expect(later.members).to.deep.equal({ retryAfterSeconds: 9 })
    expect(later.headers).to.deep.equal({ 'Retry-After': '9' })
    expect(problem.with({ detail: 'Wait.', cause: problem })).to.include({ message: 'Wait.', cause: problem })
    expect('cause' in fileNotFound().with({})).to.equal(false)
  })

  it('name the expected and the received value of a parameter', () => {
    const problem = badParameter({ param: 'w', expected: 'an integer from 1 to 5000', received: 'abc' })
    expect(problem).to.include({ status: 400, code: 'bad_parameter' })
    expect(problem.message).to.equal('expected an integer from 1 to 5000 for w but received "abc"')
    expect(problem.members).to.deep.equal({
      param: 'w',
      expected: 'an integer from 1 to 5000',
      received: 'abc',
    })
  })

  it('quote the received value in the message only', () => {
    const problem = badParameter({ param: 'w', expected: 'a number', received: 'a"b\n' })
    expect(problem.message).to.equal('expected a number for w but received "a\\"b\\n"')
    expect(problem.members.received).to.equal('a"b\n')
  })

  it('have "none" for a missing parameter', () => {
    const problem = badParameter({ param: 'files', expected: 'an array' })
    expect(problem.message).to.equal('expected an array for files but received none')
    expect(problem.members).to.deep.equal({ param: 'files', expected: 'an array' })
  })

  it('truncate the received value in message and members alike', () => {
    const problem = badParameter({ param: 'w', expected: 'a number', received: 'y'.repeat(5000) })
    expect(problem.message).to.have.length.below(200)
    expect(problem.members.received).to.equal(`${'y'.repeat(100)}…`)
    expect(
      badPath({ param: 'path', expected: 'short', received: 'y'.repeat(5000) }).members.received,
    ).to.equal(`${'y'.repeat(100)}…`)
  })

  it('name the defect of a path', () => {
    const problem = badPath({ param: 'files[2].path', expected: 'without a ".." segment', received: '../x' })
    expect(problem).to.include({ status: 400, code: 'bad_path' })
    expect(problem.message).to.equal(
      'expected a relative path without a ".." segment for files[2].path but received "../x"',
    )
    expect(problem.members).to.deep.equal({
      param: 'files[2].path',
      expected: 'a relative path without a ".." segment',
      received: '../x',
    })
  })

  it('are limit problems only when the file itself is not broken', () => {
    const ofLimit = [notTransformable('too large'), tooManyVariants(5), outputTooLarge(9)]
    for (const problem of [...ofLimit, formatTooSmall({ format: 'webp', maxSide: 16_383 })])
      expect(isLimitProblem(problem), problem.message).to.equal(true)
    for (const error of [notDecodable('broken'), fileNotFound(), unavailable('away'), new Error('a fault')])
      expect(isLimitProblem(error), error.message).to.equal(false)
    expect(notDecodable('broken', 'why')).to.include({ status: 422, code: 'not_transformable', cause: 'why' })
  })

  it('have a status and a code for common errors', () => {
    expect(fileNotFound()).to.include({ status: 404, code: 'file_not_found' })
    expect(notTransformable('broken')).to.include({
      status: 422,
      code: 'not_transformable',
      message: 'broken',
    })
    expect(tooLarge('a file', 10)).to.include({ status: 413, code: 'too_large' })
    expect(tooLarge('a file', 10).message).to.include('a file of at most 10 bytes')
    expect(tooLarge('a file', 10).members).to.deep.equal({ maxBytes: 10 })
  })

  it('have the same retry delay in header and document', () => {
    expect(unavailable('busy')).to.include({ status: 503, code: 'unavailable', message: 'busy' })
    expect(unavailable('busy').headers).to.deep.equal({ 'Retry-After': '5' })
    expect(unavailable('busy').members).to.deep.equal({ retryAfterSeconds: 5 })
    const later = unavailable('busy', { retryAfterSeconds: 30, cause: 'redis' })
    expect(later.headers).to.deep.equal({ 'Retry-After': '30' })
    expect(later.members).to.deep.equal({ retryAfterSeconds: 30 })
    expect(later.cause).to.equal('redis')
  })

  it('have a retry delay when the disk is full', () => {
    const cause = new Error('ENOSPC')
    const problem = storageFull(cause)
    expect(problem).to.include({ status: 503, code: 'storage_full', cause })
    expect(problem.message).to.not.include('ENOSPC')
    expect(problem.headers).to.deep.equal({ 'Retry-After': '60' })
    expect(problem.members).to.deep.equal({ retryAfterSeconds: 60 })
  })
})
