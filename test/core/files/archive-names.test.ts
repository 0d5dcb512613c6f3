import { expect } from 'chai'
import { checkEntryName, distinctName, TakenNames } from '../../../src/core/files/archive-names.ts'
import { Problem } from '../../../src/core/problem.ts'
import { shown } from '../shown.ts'

describe('names in an archive', () => {
  for (const name of [
    'a.png',
    'a/b/c.png',
    'über uns/bild 1.png',
    '..a',
    'a..b/...',
    '.hidden',
    'a?b#c',
    'C/a.png',
    '100%2e%2e.txt',
    'x'.repeat(255),
    `${Array(4).fill('x'.repeat(255)).join('/')}`,
    'עברית',
    'note:1.txt',
    'C:a',
    'c:/a',
    'a\0b',
    'a\u202egnp.exe',
  ]) {
    it(`may be ${shown(name)}`, () => {
      expect(checkEntryName(name, 'files[0].name')).to.equal(name)
    })
  }

  for (const [name, reason] of [
    ['', 'not empty'],
    ['/etc/passwd', '"/" at its start'],
    ['../a', '".."'],
    ['a/../../b', '".."'],
    ['a/..', '".."'],
    ['..', '".."'],
    ['.', '"."'],
    ['./a', '"."'],
    ['a//b', 'empty segment'],
    ['a/', 'empty segment'],
    ['a\\b', '\\'],
    ['..\\a', '\\'],
    [`a/${'x'.repeat(256)}`, 'segments of at most 255 bytes'],
    [`${'é'.repeat(128)}/a`, 'segments of at most 255 bytes'],
    ['a\ud800b', 'well-formed'],
    ['x'.repeat(1025), 'at most 1024 bytes'],
    ['é'.repeat(513), 'at most 1024 bytes'],
  ] as const) {
    it(`must not be ${shown(name)}`, () => {
      expect(() => checkEntryName(name, 'files[7].name'))
        .to.throw(Problem)
        .that.includes({ status: 400, code: 'bad_path' })
        .and.has.property('message')
        .that.includes('files[7].name')
        .and.includes(reason)
    })
  }

  for (const [names, expected] of [
    [
      ['a.png', 'b.png'],
      ['a.png', 'b.png'],
    ],
    [
      ['a.png', 'a.png', 'a.png'],
      ['a.png', 'a (2).png', 'a (3).png'],
    ],
    [
      ['a (2).png', 'a.png', 'a.png'],
      ['a (2).png', 'a.png', 'a (3).png'],
    ],
    [
      ['a.tar.gz', 'a.tar.gz'],
      ['a.tar.gz', 'a.tar (2).gz'],
    ],
    [
      ['README', 'README'],
      ['README', 'README (2)'],
    ],
    [
      ['.env', '.env'],
      ['.env', '.env (2)'],
    ],
    [
      ['a.b/c', 'a.b/c'],
      ['a.b/c', 'a.b/c (2)'],
    ],
    [
      ['a/.env', 'a/.env'],
      ['a/.env', 'a/.env (2)'],
    ],
    [
      ['a/x.png', 'b/x.png'],
      ['a/x.png', 'b/x.png'],
    ],
    [
      ['A.png', 'a.png', 'a (2).PNG'],
      ['A.png', 'a (2).png', 'a (2) (2).PNG'],
    ],
    [
      ['caf\u00e9', 'cafe\u0301', 'CAF\u00c9'],
      ['caf\u00e9', 'cafe\u0301 (2)', 'CAF\u00c9 (3)'],
    ],
    [
      ['\u03c3', '\u03c2', 'Stra\u00dfe', 'STRASSE'],
      ['\u03c3', '\u03c2 (2)', 'Stra\u00dfe', 'STRASSE (2)'],
    ],
    [
      ['A/x', 'a/y', 'a/X', 'A', 'B', 'b/x'],
      ['A/x', 'a/y', 'a/X (2)', 'A (2)', 'B', 'b (2)/x'],
    ],
    [
      ['a', 'a/b', 'a/b', 'a/c/d', 'a'],
      ['a', 'a (2)/b', 'a (2)/b (2)', 'a (2)/c/d', 'a (3)'],
    ],
    [
      ['a.x/b', 'a.x', 'a.x/c'],
      ['a.x/b', 'a (2).x', 'a.x/c'],
    ],
    [Array(2).fill(`${'é'.repeat(125)}x.png`), [`${'é'.repeat(125)}x.png`, `${'é'.repeat(123)} (2).png`]],
    [
      ['é'.repeat(127), `${'é'.repeat(127)}/a`],
      ['é'.repeat(127), `${'é'.repeat(125)} (2)/a`],
    ],
    [
      ['x/a', 'x/a/b', 'a/b'],
      ['x/a', 'x/a (2)/b', 'a/b'],
    ],
  ] as const) {
    it(`are made distinct: ${names.join(', ')}`, () => {
      const taken = new TakenNames()
      expect(names.map((name) => distinctName(name, taken))).to.deep.equal(expected)
    })
  }

  it('include earlier names', () => {
    const taken = new TakenNames(['_manifest.json'])
    expect(distinctName('_manifest.json', taken)).to.equal('_manifest (2).json')
    expect(distinctName('_MANIFEST.json', taken)).to.equal('_MANIFEST (3).json')
  })
})
