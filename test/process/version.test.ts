import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { version } from '../../src/process/version.ts'
import { PROJECT } from '../support/service.ts'

describe('the version', () => {
  // All other tests compare with version() itself, so this one reads the file.
  it('is that of package.json', () => {
    const text = readFileSync(join(PROJECT, 'package.json'), 'utf8')
    expect(/^ {2}"version": "(\d+\.\d+\.\d+)",$/m.exec(text)?.[1]).to.equal(version())
  })
})
