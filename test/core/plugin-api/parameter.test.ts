import { expect } from 'chai'
import {
  canonicalValue,
  expectation,
  type ParameterSpec,
  parseParameter,
} from '../../../src/core/plugin-api/parameter.ts'
import { Problem } from '../../../src/core/problem.ts'
import { shown } from '../shown.ts'

const width: ParameterSpec = { type: 'integer', min: 1, max: 5000, unit: 'px', help: 'Width' }
const shift: ParameterSpec = { type: 'integer', min: 0, max: 9, help: 'Shift' }
const ratio: ParameterSpec = { type: 'number', min: 1, max: 3, help: 'Ratio' }
const turn: ParameterSpec = { type: 'number', min: -1.5, max: 1.5, unit: 'rad', help: 'Turn' }
const format: ParameterSpec = {
  type: 'enum',
  values: ['jpeg', 'png'],
  synonyms: { jpg: 'jpeg', gone: 'tiff' },
  help: 'Format',
}
const negate: ParameterSpec = { type: 'flag', help: 'Negate' }
const title: ParameterSpec = { type: 'text', maxLength: 5, help: 'Title' }
const mark: ParameterSpec = { type: 'key', group: 'image', help: 'Mark' }

const ID = '7JAiMJ5xg1xH6JYSiPjo5R'

const trim: ParameterSpec = { type: 'number', min: 0, max: 255, bare: 10, help: 'Trim' }
const crop: ParameterSpec = {
  type: 'list',
  of: 'integer',
  names: ['x', 'y', 'w', 'h'],
  separator: ',',
  min: [0, 0, 1, 1],
  max: [99, 99, 99, 99],
  unit: 'px',
  help: 'Crop',
}
const pad: ParameterSpec = {
  type: 'list',
  of: 'integer',
  names: ['top', 'side'],
  separator: ',',
  min: [0, 0],
  max: [9, 9],
  atLeast: 1,
  help: 'Pad',
}
const shape: ParameterSpec = {
  type: 'list',
  of: 'number',
  names: ['w', 'h'],
  separator: ':',
  min: [0.5, 0.5],
  max: [20, 20],
  help: 'Shape',
}
const bg: ParameterSpec = { type: 'color', help: 'Background' }

describe('parameters', () => {
  for (const [name, spec, received, value] of [
    ['w', width, '1', 1],
    ['w', width, '5000', 5000],
    ['w', width, '0100', 100],
    ['shift', shift, '0', 0],
    ['dpr', ratio, '1', 1],
    ['dpr', ratio, '3', 3],
    ['dpr', ratio, '3.0', 3],
    ['dpr', ratio, '1.50', 1.5],
    ['dpr', ratio, '2.', 2],
    ['turn', turn, '.5', 0.5],
    ['turn', turn, '-1.5', -1.5],
    ['turn', turn, '0', 0],
    ['f', format, 'png', 'png'],
    ['f', format, 'PNG', 'png'],
    ['f', format, 'jpg', 'jpeg'],
    ['f', format, 'Jpg', 'jpeg'],
    ['negate', negate, '', true],
    ['negate', negate, '1', true],
    ['negate', negate, 'true', true],
    ['negate', negate, 'TRUE', true],
    ['negate', negate, '0', undefined],
    ['negate', negate, 'false', undefined],
    ['text', title, 'a', 'a'],
    ['text', title, ' a b  ', 'a b'],
    ['text', title, '<b>&;', '<b>&;'],
    ['text', title, '0', '0'],
    // Five characters, of ten units of UTF-16.
    ['text', title, '😀😀😀😀😀', '😀😀😀😀😀'],
    // An e and an accent are one letter.
    ['text', title, 'cafe\u0301s', 'caf\u00e9s'],
    ['wm', mark, `image/png/${ID}.png`, `image/png/${ID}.png`],
    ['wm', mark, `${ID}.png`, `image/png/${ID}.png`],
    ['wm', mark, `logos/2024/${ID}.jpg`, `logos/2024/image/jpeg/${ID}.jpg`],
    ['wm', mark, `logos/image/svg/${ID}.svg`, `logos/image/svg/${ID}.svg`],
    ['trim', trim, '', 10],
    ['trim', trim, 'true', 10],
    ['trim', trim, 'false', undefined],
    ['trim', trim, '0', 0],
    ['trim', trim, '1', 1],
    ['crop', crop, '1,2,3,4', [1, 2, 3, 4]],
    ['crop', crop, '0,00,01,99', [0, 0, 1, 99]],
    ['pad', pad, '3', [3]],
    ['pad', pad, '3,0', [3, 0]],
    ['shape', shape, '16:9', [16, 9]],
    ['shape', shape, '1.50:.5', [1.5, 0.5]],
    ['bg', bg, '#F80', 'ff8800'],
    ['bg', bg, 'Red', 'ff0000'],
    ['bg', bg, 'transparent', '00000000'],
  ] as const) {
    it(`are parsed: ${name}=${received} is ${value}`, () => {
      expect(parseParameter(name, spec, received)).to.deep.equal(value)
    })
  }

  it('are parsed: -0 is 0', () => {
    expect(Object.is(parseParameter('turn', turn, '-0'), 0)).to.equal(true)
  })

  const refusals: Array<readonly [string, ParameterSpec, readonly string[]]> = [
    [
      'w',
      width,
      [
        '0',
        '-1',
        '1.5',
        'abc',
        '5001',
        '',
        '1e3',
        '0x10',
        ' 5',
        '5 ',
        '5\n',
        '+5',
        '1_000',
        '1,000',
        '٣',
        '5px',
      ],
    ],
    ['w', width, ['NaN', 'Infinity', '-0', '9'.repeat(16), '9'.repeat(400), 'null', '[object Object]']],
    ['shift', shift, ['-0', '-1', '10', '']],
    [
      'dpr',
      ratio,
      ['0.99', '3.01', '', '.', '-', '-.', '1e0', '0x1', ' 1', 'NaN', 'Infinity', '1.2.3', '1,5', '--1'],
    ],
    ['turn', turn, ['-1.51', '1.51', '+1']],
    ['f', format, ['', 'bmp', 'jpeg,png', ' png', 'gone', 'tiff', 'constructor', '__proto__', 'toString']],
    ['negate', negate, ['2', 'yes', 'on', ' ', '-1', 'null']],
    [
      'text',
      title,
      [
        '',
        ' ',
        '\n',
        '\u00a0',
        'abcdef',
        'a\nb',
        'a\tb',
        'a\0b',
        'a\u007fb',
        'a\u2028b',
        'a\u202eb',
        'a\u200fb',
      ],
    ],
    ['text', title, ['\ud800', 'a\udfff', 'a\u2066b', '\ufffe', '😀😀😀😀😀😀']],
    [
      'wm',
      mark,
      [
        '',
        'logo.png',
        `${ID}`,
        `${ID}.mp4`,
        `video/mp4/${ID}.mp4`,
        `${ID}.png_w=100`,
        `image/png/${ID}.png_w=100`,
        `/image/png/${ID}.png`,
        `../other/image/png/${ID}.png`,
        `%2e%2e/image/png/${ID}.png`,
        `a\\${ID}.png`,
        `.sluice/meta/image/png/${ID}.png`,
        `.sluice/meta/image/png/${ID}.png.json`,
        `https://example.org/${ID}.png`,
      ],
    ],
    ['trim', trim, ['-1', '256', 'yes', ' ']],
    [
      'crop',
      crop,
      ['', ',', '1,2,3', '1,2,3,4,5', '1,2,3,', '1, 2,3,4', '1:2:3:4', '0,0,0,1', '0,0,1,100', '-1,0,1,1'],
    ],
    ['pad', pad, ['', '10', '1,2,3', '1,', ',1']],
    ['shape', shape, ['', '16', '16:9:1', '16,9', '0:9', '21:1', '1e1:1', 'a:b']],
    ['bg', bg, ['', '#', '12345', 'reddish', '__proto__', 'rgb(0,0,0)']],
  ]
  for (const [name, spec, values] of refusals) {
    for (const received of values) {
      it(`refuse ${name}=${shown(received)}`, () => {
        expect(() => parseParameter(name, spec, received))
          .to.throw(Problem)
          .that.includes({ status: 400, code: 'bad_parameter' })
          .and.has.property('members')
          .that.includes({ param: name, expected: expectation(spec) })
      })
    }
  }

  for (const [name, spec, received, message] of [
    ['w', width, 'abc', 'expected an integer from 1 to 5000 px for w but received "abc"'],
    ['width', width, '0', 'expected an integer from 1 to 5000 px for width but received "0"'],
    ['shift', shift, '', 'expected an integer from 0 to 9 for shift but received ""'],
    ['dpr', ratio, '4', 'expected a number from 1 to 3 for dpr but received "4"'],
    ['turn', turn, '2', 'expected a number from -1.5 to 1.5 rad for turn but received "2"'],
    ['f', format, 'bmp', 'expected one of jpeg, png for f but received "bmp"'],
    ['negate', negate, 'yes', 'expected no value, 1 or 0 for negate but received "yes"'],
    [
      'text',
      title,
      'abcdef',
      'expected a text of 1 to 5 characters without control characters and marks of text direction for text but received "abcdef"',
    ],
    [
      'wm',
      mark,
      'logo.png',
      'expected [folder/]<sourceName> or the full key of an original of type image for wm but received "logo.png"',
    ],
    ['trim', trim, 'x', 'expected a number from 0 to 255 (no value means 10) for trim but received "x"'],
    [
      'crop',
      crop,
      '1',
      'expected 4 integers x,y,w,h (x and y from 0 to 99, w and h from 1 to 99 px) for crop but received "1"',
    ],
    ['pad', pad, 'x', 'expected 1 to 2 integers top,side (from 0 to 9) for pad but received "x"'],
    ['shape', shape, '1', 'expected 2 numbers w:h (from 0.5 to 20) for shape but received "1"'],
    [
      'bg',
      bg,
      'x',
      'expected a colour: 3, 4, 6 or 8 hexadecimal digits, a CSS name or transparent for bg but received "x"',
    ],
  ] as const) {
    it(`have the message: ${message}`, () => {
      expect(() => parseParameter(name, spec, received))
        .to.throw(Problem)
        .with.property('message', message)
    })
  }

  for (const [value, text] of [
    [100, '100'],
    [1.5, '1.5'],
    [-0.25, '-0.25'],
    [true, '1'],
    ['webp', 'webp'],
    [[16, 9], '16,9'],
    [[5], '5'],
  ] as const) {
    it(`are ${text} in a key for ${typeof value} ${value}`, () => {
      expect(canonicalValue(value)).to.equal(text)
    })
  }

  it('are the same in a key for every spelling', () => {
    const canonical = (spec: ParameterSpec, ...texts: string[]) =>
      new Set(texts.map((text) => canonicalValue(parseParameter('x', spec, text) ?? 'nothing')))
    expect(canonical(ratio, '2', '2.0', '02', '2.')).to.have.keys('2')
    expect(canonical(turn, '0', '-0', '0.0', '.0')).to.have.keys('0')
    expect(canonical(format, 'jpg', 'JPEG', 'jpeg')).to.have.keys('jpeg')
    expect(canonical(negate, '', '1', 'true')).to.have.keys('1')
  })
})
