import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { stoppedAtTheEnd } from '../support/backends.ts'
import { corpusOutcomes } from '../support/corpus.ts'
import { PROJECT, startService } from '../support/service.ts'

const CORPUS = join(PROJECT, 'test', 'corpus')

describe('files of other programs', () => {
  const start = stoppedAtTheEnd(startService)

  it('have the format that test/corpus/expected.json gives, and that outcome of ?w=64', async function () {
    this.timeout(180_000)
    const expected = JSON.parse(await readFile(join(CORPUS, 'expected.json'), 'utf8'))
    const outcomes = await corpusOutcomes(await start({}), join(CORPUS, 'files'))
    expect(Object.keys(outcomes).length).to.be.at.least(150)
    expect(outcomes).to.deep.equal(expected)
  })
})
