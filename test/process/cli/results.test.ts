import { expect } from 'chai'
import { RESULT_TEXTS } from '../../../src/process/cli/results.ts'

describe('the output of a command for a person', () => {
  const shown = (command: string, answer: unknown) =>
    (RESULT_TEXTS[command] as (answer: unknown) => string)(answer)
  const CLIENT = { id: 'a', clientToken: 'pub_a', createdAt: '2026-01-01T12:00:00.000Z', state: 'active' }

  it('is a client with its keys and its rules, with times in the format of the options', () => {
    const text = shown('client show', {
      ...CLIENT,
      urlKeys: [2, 3],
      rules: { keepDeletedSeconds: 30 * 86_400 },
    })
    expect(text).to.match(/^active keys +2, 3$/m)
    expect(text).to.match(/^rules +soft delete for 30d$/m)
  })

  it('has no line for keys when there are none', () => {
    expect(shown('client show', CLIENT)).not.to.include('keys')
  })

  it('is the number of partitions of a client, with the files that have moved', () => {
    const report = { id: 'a', partitions: 64, isChanged: true, files: 1_234_567, seconds: 310 }
    expect(shown('client partition', report)).to.equal('a: 64 partitions, 1,234,567 files moved in 310 s\n')
    expect(shown('client partition', { ...report, partitions: 1, files: 1 })).to.equal(
      'a: 1 partition, 1 file moved in 310 s\n',
    )
    expect(shown('client partition', { ...report, isChanged: false })).to.equal(
      'a has 64 partitions already\n',
    )
  })

  it('is a table of the usage of clients', () => {
    const counts = {
      uploads: 1,
      uploadedBytes: 2,
      deliveries: 3,
      deliveredBytes: 4,
      transformations: 5,
      cacheHits: 6,
      errors: 7,
    }
    const text = shown('usage', [
      { clientId: 'a', stored: { files: 6, bytes: 7 }, trashed: { files: 8, bytes: 9 }, counts },
    ])
    expect(text.split('\n').map((line) => line.split(/ {2,}/))).to.deep.equal([
      [
        ...['CLIENT', 'FILES', 'BYTES', 'SOFT-DELETED BYTES', 'UPLOADS', 'UPLOADED BYTES', 'DELIVERIES'],
        ...['DELIVERED BYTES', 'TRANSFORMATIONS', 'CACHE HITS', 'ERRORS'],
      ],
      ['a', '6', '7', '9', '1', '2', '3', '4', '5', '6', '7'],
      [''],
    ])
  })
})
