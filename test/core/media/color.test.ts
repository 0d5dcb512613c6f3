import { expect } from 'chai'
import { colorOf, parseColor } from '../../../src/core/media/color.ts'
import { CSS_COLORS } from '../../../src/core/media/css-colors.ts'

describe('colours', () => {
  for (const [text, digits] of [
    ['ff8000', 'ff8000'],
    ['#FF8000', 'ff8000'],
    ['f80', 'ff8800'],
    ['#F80', 'ff8800'],
    ['f808', 'ff880088'],
    ['fff', 'ffffff'],
    ['ffff', 'ffffff'],
    ['f80f', 'ff8800'],
    ['ff8000ff', 'ff8000'],
    ['ff800080', 'ff800080'],
    ['0000ff', '0000ff'],
    ['ff8000', 'ff8000'],
    ['red', 'ff0000'],
    ['Red', 'ff0000'],
    ['rebeccapurple', '663399'],
    ['lightgrey', 'd3d3d3'],
    ['transparent', '00000000'],
    ['0000', '00000000'],
    ['#ff000000', '00000000'],
    ['ff0000', 'ff0000'],
  ] as const) {
    it(`are parsed: ${text} is ${digits}`, () => {
      expect(parseColor(text)).to.equal(digits)
      expect(parseColor(digits)).to.equal(digits)
    })
  }

  for (const text of [
    '',
    '#',
    'ff',
    'fffff',
    'fffffff',
    'ggg',
    '##fff',
    'fff#',
    ' red',
    'reddish',
    'constructor',
    'rgb(1,2,3)',
    '٣٣٣',
  ]) {
    it(`are refused: ${JSON.stringify(text)}`, () => {
      expect(parseColor(text)).to.equal(undefined)
    })
  }

  it('include the 148 names of CSS', () => {
    expect(CSS_COLORS.size).to.equal(148)
    for (const [name, digits] of CSS_COLORS) {
      expect(name).to.match(/^[a-z]+$/)
      expect(digits).to.match(/^[0-9a-f]{6}$/)
    }
  })

  it('are converted to numbers from 0 to 255, and an alpha from 0 to 1', () => {
    expect(colorOf('ff8000')).to.deep.equal({ r: 255, g: 128, b: 0, alpha: 1 })
    expect(colorOf('00000000')).to.deep.equal({ r: 0, g: 0, b: 0, alpha: 0 })
    expect(colorOf('01020333')).to.deep.equal({ r: 1, g: 2, b: 3, alpha: 0.2 })
  })
})
