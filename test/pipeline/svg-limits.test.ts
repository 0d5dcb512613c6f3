import { expect } from 'chai'
import { Problem } from '../../src/core/problem.ts'
import { tooMuchOf } from '../../src/engines/svg-limits.ts'
import { rejection } from '../support/rejection.ts'
import { transformed } from './transform.ts'

const svg = (content: string, before = '') =>
  Buffer.from(`${before}<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">${content}</svg>`)
const LETTERS = 'of at most 10000 letters'
const ENTITIES = 'without entities that stand for more than a few words'
const W = (times: number) => 'W'.repeat(times)
const doctype = (subset: string) => `<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd" [${subset}]>`

describe('what is too much about an SVG', () => {
  for (const [what, content, before] of [
    ['a picture of many shapes', `${'<path d="M0 0h9"/>\n    '.repeat(99_000)}`],
    ['many words in many places', '<text>word</text>'.repeat(2500)],
    ['a large picture within', `<image href="data:image/png;base64,${W(5_000_000)}"/>`],
    ['a font within its style', `<style>@font-face{src:url(data:font/woff2;base64,${W(500_000)})}</style>`],
    ['a long comment', `<!-- ${W(50_000)} <text> > -->`],
    ['a path that is long, and quotes in quotes', `<path d="${'l1 1'.repeat(100_000)}" id='">'/>`],
    ['the names that Illustrator declares', '<g/>', doctype('\n <!ENTITY ns_svg "http://w3.org/svg">\n')],
  ] as const) {
    it(`is not ${what}`, () => {
      expect(tooMuchOf(svg(content, before))).to.equal(undefined)
    })
  }

  for (const [what, expected, content, before] of [
    ['elements', 'of at most 200000 tags', '<g/>'.repeat(200_001)],
    ['elements around elements', 'of at most 200000 tags', '<g>'.repeat(100_001) + '</g>'.repeat(100_001)],
    ['comments', 'of at most 200000 tags', '<!---->'.repeat(200_001)],
    ['letters', LETTERS, `<text>${W(10_001)}</text>`],
    ['letters over all texts', LETTERS, `<text>${W(101)}</text>`.repeat(100)],
    ['letters that are spaces', LETTERS, `<text xml:space="preserve">${' '.repeat(10_001)}</text>`],
    ['letters with a prefix', LETTERS, `<svg:text>${' '.repeat(10_001)}</svg:text>`],
    ['letters as data', LETTERS, `<text><![CDATA[${W(10_001)}]]></text>`],
    ['letters behind a style that is none', LETTERS, `<text><style/>${W(10_001)}</text>`],
    ['letters behind a style in a value', LETTERS, `<text a="<style>">${W(10_001)}</text>`],
    ['letters behind a style with a bracket', LETTERS, `<text><style a=">"/>${W(10_001)}</text>`],
    ['letters behind a style in a comment', LETTERS, `<text><!-- <style> -->${W(10_001)}</text>`],
    ['letters behind a style that has ended', LETTERS, `<text><style>a</style>${W(10_001)}</text>`],
    ['letters within comments that are data', LETTERS, `<text><![CDATA[<!--]]>${W(10_001)}--></text>`],
    ['letters within a comment of a value', LETTERS, `<text a="<!--">${W(10_001)}--></text>`],
    ['style', 'with fewer styles', `<style>${W(1_000_001)}</style>`],
    ['style for so many', 'with fewer styles', `<style>${W(20_000)}</style>${'<g/>'.repeat(60_000)}`],
    ['what an entity stands for', LETTERS, '&a;'.repeat(20), doctype(`<!ENTITY a "${W(600)}">`)],
    ['an entity, in its length', ENTITIES, '&a;', doctype(`<!ENTITY a "${W(10_000)}">`)],
    ['entities of entities', ENTITIES, '&b;', doctype('<!ENTITY a "x"><!ENTITY b "&a;&a;">')],
    ['entities of elements', ENTITIES, '&a;', doctype('<!ENTITY a "<g/>">')],
    ['entities that open a comment', ENTITIES, `${W(10_001)}-->`, doctype('<!ENTITY a "<!--">')],
    ['entities of parameters', ENTITIES, '', doctype('<!ENTITY % a "x">')],
    ['entities from elsewhere', ENTITIES, '&a;', doctype('<!ENTITY a SYSTEM "file:///etc/passwd">')],
    ['document types', ENTITIES, '', '<!DOCTYPE svg><!DOCTYPE svg>'],
    [
      'letters behind a type that opens a comment',
      LETTERS,
      `${W(10_001)}-->`,
      '<!DOCTYPE svg SYSTEM "<!--">',
    ],
  ] as const) {
    it(`is too much: ${what}`, () => {
      expect(tooMuchOf(svg(content, before))).to.equal(expected)
    })
  }

  it('is found out in no time, whatever the file is made of', () => {
    for (const part of [
      '<',
      '<!',
      '<!-',
      '<g a="',
      `<g a='>`,
      '&a;',
      '<style>',
      'a="1" ',
      '<!DOCTYPE [',
      ']]>',
    ]) {
      const begun = performance.now()
      tooMuchOf(svg(part.repeat(Math.floor(10_000_000 / part.length))))
      expect(performance.now() - begun, part).to.be.below(1500)
    }
  })

  it('is refused before anything is drawn', async () => {
    const begun = performance.now()
    const error = await rejection(transformed(svg(`<text>${W(10_001)}</text>`), 'w=5', { format: 'svg' }))
    expect(error).to.be.instanceOf(Problem).that.includes({ status: 422, code: 'not_transformable' })
    expect(error).to.have.property(
      'message',
      'expected an SVG of at most 10000 letters to transform but this one has more',
    )
    expect(performance.now() - begun).to.be.below(3000)
  })

  it('is nothing of a picture that is drawn', async () => {
    const { metadata } = await transformed(svg('<text y="9">words</text>'), 'w=5', { format: 'svg' })
    expect(metadata.width).to.equal(5)
  })
})
