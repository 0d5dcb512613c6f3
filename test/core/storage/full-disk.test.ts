import { expect } from 'chai'
import { Problem, storageFull } from '../../../src/core/problem.ts'
import { isFull } from '../../../src/core/storage/full-disk.ts'

const withCode = (code: string) => Object.assign(new Error('write'), { code })
const tooLarge = new Problem({ status: 413, code: 'too_large', detail: 'File too large' })

describe('a full disk', () => {
  const cases: Array<[what: string, error: unknown, expected: boolean]> = [
    ['no space', withCode('ENOSPC'), true],
    ['no quota', withCode('EDQUOT'), true],
    ['the file size limit of the process', withCode('EFBIG'), true],
    ['the problem of a write', storageFull(withCode('ENOSPC')), true],
    ['another error that one of these has caused', new Error('failed', { cause: withCode('EFBIG') }), true],
    ['LevelDB, which gives no code', new Error('IO error: 000005.ldb: File too large'), true],
    ['a read-only disk', withCode('EROFS'), false],
    ['a file that does not exist', withCode('ENOENT'), false],
    ['a problem with a similar text', tooLarge, false],
    ['no error', 'ENOSPC', false],
  ]
  for (const [what, error, expected] of cases)
    it(`${expected ? 'is' : 'is not'} ${what}`, () => {
      expect(isFull(error)).to.equal(expected)
    })
})
