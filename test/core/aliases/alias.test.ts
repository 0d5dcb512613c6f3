import { expect } from 'chai'
import { type Alias, VERSIONS_MAX, versionToRestore, withTarget } from '../../../src/core/aliases/alias.ts'
import { parseAlias, serializeAlias } from '../../../src/core/aliases/record.ts'
import { newFileId, type ObjectKey, storedKey } from '../../../src/core/files/object-key.ts'

const name = 'products/chair.jpg'
const newKey = (): ObjectKey => storedKey(`image/jpeg/${newFileId()}.jpg`)

describe('an alias', () => {
  it('begins with version 1, and puts each new target first', () => {
    const [a, b] = [newKey(), newKey()]
    const first = withTarget(undefined, { name, key: a, at: 1000 })
    expect(first).to.deep.equal({ name, versions: [{ version: 1, key: a, setAt: 1000 }] })
    const second = withTarget(first, { name, key: b, at: 2000 })
    expect(second.versions).to.deep.equal([{ version: 2, key: b, setAt: 2000 }, ...first.versions])
  })

  it('stays the same when it has the target already', () => {
    const key = newKey()
    const alias = withTarget(undefined, { name, key, at: 1000 })
    expect(withTarget(alias, { name, key, at: 2000 })).to.equal(alias)
  })

  it('never has a version that is older than the one before, whatever the clock says', () => {
    const before = withTarget(undefined, { name, key: newKey(), at: 5000 })
    expect(withTarget(before, { name, key: newKey(), at: 1000 }).versions[0].setAt).to.equal(5000)
  })

  it(`retains ${VERSIONS_MAX} versions`, () => {
    let alias: Alias | undefined
    for (let at = 1; at <= VERSIONS_MAX + 5; at += 1) alias = withTarget(alias, { name, key: newKey(), at })
    const numbers = alias?.versions.map(({ version }) => version)
    expect(numbers).to.have.length(VERSIONS_MAX)
    expect([numbers?.[0], numbers?.at(-1)]).to.deep.equal([VERSIONS_MAX + 5, 6])
  })

  it('restores the previous version, or a numbered one', () => {
    const [a, b, c] = [newKey(), newKey(), newKey()]
    let alias = withTarget(undefined, { name, key: a, at: 1 })
    expect(versionToRestore(alias, undefined)).to.equal(undefined)
    for (const key of [b, c]) alias = withTarget(alias, { name, key, at: 2 })
    expect(versionToRestore(alias, undefined)?.key).to.equal(b)
    expect(versionToRestore(alias, 1)?.key).to.equal(a)
    expect(versionToRestore(alias, 4)).to.equal(undefined)
  })
})

describe('the record of an alias', () => {
  const key = storedKey('.sluice/aliases/a.json')

  it('is read as it was written', () => {
    const alias = withTarget(undefined, { name, key: newKey(), at: 1000 })
    expect(parseAlias(key, serializeAlias(alias))).to.deep.equal(alias)
  })

  const target = { version: 1, key: newKey(), setAt: 1 }
  const damaged: Array<[what: string, text: string]> = [
    ['no JSON', '{'],
    ['no version', JSON.stringify({ name, versions: [] })],
    ['a key outside the grammar', JSON.stringify({ name, versions: [{ ...target, key: '../a' }] })],
    [
      'the key of a derivative',
      JSON.stringify({ name, versions: [{ ...target, key: `${target.key}_w=1` }] }),
    ],
    [
      'a record of the service',
      JSON.stringify({ name, versions: [{ ...target, key: '.sluice/clients/a.json' }] }),
    ],
  ]
  for (const [what, text] of damaged)
    it(`is damaged when it has ${what}`, () => {
      expect(() => parseAlias(key, Buffer.from(text))).to.throw('.sluice/aliases/a.json')
    })
})
