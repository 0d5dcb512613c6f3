import { expect } from 'chai'
import {
  aliasFolderPrefix,
  aliasNameOf,
  aliasRecordKey,
  parseAliasName,
} from '../../../src/core/aliases/name.ts'
import { classifyKey, storedKey } from '../../../src/core/files/object-key.ts'
import { Problem } from '../../../src/core/problem.ts'

describe('the name of an alias', () => {
  const cases: Array<[name: string, key: string]> = [
    ['chair.jpg', '.sluice/aliases/chair.jpg.json'],
    ['products/chair.jpg', '.sluice/aliases/products.d/chair.jpg.json'],
    ['a', '.sluice/aliases/a.json'],
    ['a.json/b', '.sluice/aliases/a.json.d/b.json'],
    ['a.d/b', '.sluice/aliases/a.d.d/b.json'],
    ['ä ö/日本', '.sluice/aliases/ä ö.d/日本.json'],
  ]
  for (const [name, key] of cases)
    it(`${name} has the record ${key}`, () => {
      expect(aliasRecordKey(parseAliasName(name))).to.equal(key)
      expect(aliasNameOf(key)).to.equal(name)
      expect(classifyKey(storedKey(key))).to.equal(undefined)
    })

  it('of one alias never makes the folder of another one impossible', () => {
    const keys = cases.map(([, key]) => key)
    for (const key of keys) expect(keys.filter((other) => other.startsWith(`${key}/`))).to.deep.equal([])
  })

  it('is found by the prefix of its folder only', () => {
    expect(aliasFolderPrefix('')).to.equal('.sluice/aliases/')
    expect(aliasRecordKey('a/b/c').startsWith(aliasFolderPrefix('a/b'))).to.equal(true)
    expect(aliasRecordKey('a/bc').startsWith(aliasFolderPrefix('a/b'))).to.equal(false)
    expect(aliasRecordKey('a').startsWith(aliasFolderPrefix('a'))).to.equal(false)
  })

  for (const key of [
    '.sluice/meta/image/png/7JAiMJ5xg1xH6JYSiPjo5R.png.json',
    '.sluice/aliases/a/b.json',
    '.sluice/aliases/.json',
    '.sluice/aliases/a.txt',
    'image/png/7JAiMJ5xg1xH6JYSiPjo5R.png',
  ])
    it(`is not in the key ${key}`, () => expect(aliasNameOf(key)).to.equal(undefined))

  for (const name of [
    '',
    '/a',
    'a/',
    'a//b',
    '../a',
    'a/./b',
    'a\\b',
    'a?b',
    'a%2fb',
    'http://a',
    '.sluice/a',
    'a\u202eb',
    '1/2/3/4/5/6/7/8/9',
    'a'.repeat(201),
    '7JAiMJ5xg1xH6JYSiPjo5R.jpg',
    `s--1..${'A'.repeat(43)}--/a`,
  ])
    it(`cannot be ${JSON.stringify(name.slice(0, 30))}`, () => {
      expect(() => parseAliasName(name))
        .to.throw(Problem)
        .with.property('code', 'bad_path')
    })
})
