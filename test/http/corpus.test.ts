import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { stoppedAtTheEnd } from '../support/backends.ts'
import { corpusOutcomes } from '../support/corpus.ts'
import { PROJECT, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const CORPUS = join(PROJECT, 'test', 'corpus')

describe('files of other programs', () => {
  const start = stoppedAtTheEnd(startService)
  let dataDir: string
  beforeEach(async () => {
    dataDir = await temporaryFolder()
  })
  afterEach(() => rm(dataDir, { recursive: true, force: true }))

  it('have the format that test/corpus/expected.json gives, and that outcome of ?w=64', async function () {
    this.timeout(180_000)
    const expected = JSON.parse(await readFile(join(CORPUS, 'expected.json'), 'utf8'))
    const outcomes = await corpusOutcomes(await start({ dataDir }), join(CORPUS, 'files'))
    expect(Object.keys(outcomes).length).to.be.at.least(150)
    expect(outcomes).to.deep.equal(expected)
  })
})
