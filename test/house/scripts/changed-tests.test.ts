import { join } from 'node:path'
import { expect } from 'chai'
import { PROJECT } from '../../support/service.ts'

describe('npm test -- --changed', () => {
  let affected: (...changed: string[]) => string[]
  before(async () => {
    const { affectedTests, graphOf } = await import(join(PROJECT, 'scripts/changed-tests.js'))
    const { testFiles } = await import(join(PROJECT, 'scripts/lanes.js'))
    const tests = testFiles(false)
    const importsOf = await graphOf(tests)
    affected = (...changed) => affectedTests(changed, tests, importsOf)
  })

  it('runs a changed test, and the tests that import a changed file', () => {
    expect(affected('test/core/net/query.test.ts')).to.deep.equal(['test/core/net/query.test.ts'])
    expect(affected('src/http/in-order.ts')).to.include('test/http/in-order.test.ts')
    expect(affected('test/support/pseudo-file-of-no-test.ts')).to.deep.equal([])
  })

  it('runs the tests in the folder of the same name, not all that start the service', () => {
    const files = affected('src/http/aliases/set.ts')
    expect(files).to.include('test/http/aliases/manage.test.ts')
    expect(files.length).to.be.below(20)
  })

  it('runs the tests of the routes in the folder of a change where no folder has its name, and all of HTTP for what all endpoints share', () => {
    const ofSigning = affected('src/http/signing/urls.ts')
    expect(ofSigning).to.include('test/http/caller/signed-urls.test.ts')
    expect(ofSigning.length).to.be.below(60)
    for (const path of ['src/http/server.ts', 'src/http/endpoint/access.ts'])
      expect(affected(path), path).to.include.members(ofSigning)
  })

  it('runs the tests that name a changed text, and those of the house', () => {
    const files = affected('docs/explanation/sharp-order.md')
    expect(files).to.include('test/house/links.test.ts')
    expect(files.length).to.be.below(60)
  })

  it('runs the tests that name code which none imports: programs, and scripts', () => {
    expect(affected('scripts/changed-tests.js')).to.include('test/house/scripts/changed-tests.test.ts')
    expect(affected('scripts/setup.js')).not.to.deep.equal([])
  })

  it('runs the tests of the console for a change of the console', () => {
    expect(affected('dashboard/src/ui/table.tsx')).to.include('test/dashboard/tour/tour.test.ts')
  })
})
