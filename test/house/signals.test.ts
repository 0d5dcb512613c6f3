import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { PROJECT } from '../support/service.ts'

describe('signals', () => {
  it('are never combined with AbortSignal.any, which never frees their listeners: use core/async/any-signal.ts', () => {
    const files = ['src', 'plugins'].flatMap((folder) =>
      readdirSync(join(PROJECT, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name)),
    )
    const joining = files.filter((file) => readFileSync(file, 'utf8').includes('AbortSignal.any('))
    expect(files.length).to.be.above(100)
    expect(joining).to.deep.equal([])
  })
})
