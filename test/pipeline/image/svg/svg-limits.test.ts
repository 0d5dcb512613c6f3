import { expect } from 'chai'
import sharp from 'sharp'
import { Problem } from '../../../../src/core/problem.ts'
import { inspectSvg } from '../../../../src/engines/image/svg/limits.ts'
import { rejection } from '../../../support/rejection.ts'
import { sized } from '../../../support/sized.ts'
import { transformed } from '../transform.ts'

const svg = (content: string, before = '') =>
  Buffer.from(`${before}<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">${content}</svg>`)
const tooMuchOf = (bytes: Uint8Array) => inspectSvg(bytes).tooMuch
const LETTERS = 'of at most 10000 characters of text'
const ENTITIES = 'without entities longer than a few words'
const NESTED = 'of at most 500 nested clip paths and ":not("'
const LAYERS = 'of at most 16 nested layers'
const FOREIGN = 'without an embedded SVG, embedded styles or unknown embedded data'
const W = (times: number) => 'W'.repeat(times)
const doctype = (subset: string) => `<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd" [${subset}]>`

describe('the limits of an SVG', () => {
  for (const [what, content, before] of [
    ['an image of many shapes', `${'<path d="M0 0h9"/>\n    '.repeat(99_000)}`],
    ['many words in many places', '<text>word</text>'.repeat(2500)],
    ['a large embedded image', `<image href="data:image/png;base64,iVBORw0KGgo${W(4_000_000)}"/>`],
    [
      'a font within its style',
      `<style>@font-face{src:url(data:font/woff2;base64,d09GMg${W(500_000)})}</style>`,
    ],
    ['words that begin as an address does', '<g aria-label="Data: 3"/><g b="metadata:1,2"/>'],
    [
      'clips that a style names',
      `<style>${Array.from({ length: 450 }, (_, i) => `.c${i}{clip-path:url(#clip-path-${i})}`).join('')}</style>`,
    ],
    ['clips of shapes', `<clipPath id="a"><path/></clipPath>${'<g clip-path="url(#a)"/>'.repeat(5000)}`],
    ['styles from elsewhere', '<style>@import url(https://fonts.example/a.css);</style>'],
    ['filters for many shadows', '<filter><feOffset/><feBlend/></filter>'.repeat(400)],
    ['layers next to layers', '<g opacity=".5"><g filter="url(#a)"/></g>'.repeat(1000)],
    ['groups in groups', '<g fill-opacity=".5">'.repeat(200) + '</g>'.repeat(200)],
    ['a long comment', `<!-- ${W(50_000)} <text> > -->`],
    ['a path that is long, and quotes in quotes', `<path d="${'l1 1'.repeat(100_000)}" id='">'/>`],
    ['the names that Illustrator declares', '<g/>', doctype('\n <!ENTITY ns_svg "http://w3.org/svg">\n')],
  ] as const) {
    it(`accept ${what}`, () => {
      expect(tooMuchOf(svg(content, before))).to.equal(undefined)
    })
  }

  for (const [what, expected, content, before] of [
    ['elements', 'of at most 200000 tags', '<g/>'.repeat(200_001)],
    ['elements around elements', 'of at most 200000 tags', '<g>'.repeat(100_001) + '</g>'.repeat(100_001)],
    ['comments', 'of at most 200000 tags', '<!---->'.repeat(200_001)],
    ['bytes', 'of at most 4194304 bytes', ' '.repeat(4_194_304)],
    ['pictures of elements', 'of at most 4 feImage elements', '<feImage/>'.repeat(5)],
    [
      'pictures of elements with a prefix',
      'of at most 4 feImage elements',
      '<a:feImage></a:feImage>'.repeat(5),
    ],
    ['negations of negations', NESTED, `<style>${':not('.repeat(501)}</style>`],
    ['negations that are escaped', NESTED, `<style>${':n\\6f t('.repeat(501)}</style>`],
    ['negations by entities', NESTED, `<style>${':n&#111;t('.repeat(501)}</style>`],
    ['negations by an entity', NESTED, `<style>${':&a;('.repeat(501)}</style>`, doctype('<!ENTITY a "not">')],
    ['negations as data', NESTED, `<style><![CDATA[${':not('.repeat(501)}]]></style>`],
    ['nested clip paths', NESTED, '<clipPath clip-path="url(#a)"/>'.repeat(501)],
    ['clips of clips within', NESTED, `<clipPath>${'<path clip-path="url(#a)"/>'.repeat(501)}</clipPath>`],
    ['clips of what is clipped', NESTED, '<clipPath><use href="#a"/></clipPath>'.repeat(501)],
    ['clips by a style', NESTED, `<style>${'a{clip-path:url(#a)}'.repeat(501)}</style>`],
    ['nested layers', LAYERS, '<g opacity=".9">'.repeat(17) + '</g>'.repeat(17)],
    ['layers in groups in layers', LAYERS, '<g style="mix-blend-mode:screen"><g>'.repeat(17)],
    ['layers of filters and masks', LAYERS, '<g filter="url(#a)"><g style="mask:url(#b)">'.repeat(9)],
    ['layers by a style', LAYERS, `<style>g{opacity:.9}</style>${'<g>'.repeat(32)}`],
    ['parts of filters', 'with fewer filters', '<feOffset/>'.repeat(1001)],
    ['parts of filters that are slow', 'with fewer filters', '<feTurbulence/>'.repeat(9)],
    ['pictures', 'of at most 256 embedded images', '<image href="data:;base64,/9j/"/>'.repeat(257)],
    [
      'pictures in a style',
      'of at most 256 embedded images',
      `<style>${'a{b:url(data:;base64,/9j/)}'.repeat(257)}</style>`,
    ],
    ['entities', 'of at most 100000 entities and escapes', '&amp;'.repeat(100_001)],
    ['letters', LETTERS, `<text>${W(10_001)}</text>`],
    ['letters over all texts', LETTERS, `<text>${W(101)}</text>`.repeat(100)],
    ['letters that are spaces', LETTERS, `<text xml:space="preserve">${' '.repeat(10_001)}</text>`],
    ['letters with a prefix', LETTERS, `<svg:text>${' '.repeat(10_001)}</svg:text>`],
    ['letters with a long prefix', LETTERS, `<${W(200)}:text>${' '.repeat(10_001)}</${W(200)}:text>`],
    ['letters as data', LETTERS, `<text><![CDATA[${W(10_001)}]]></text>`],
    ['text after an invalid style', LETTERS, `<text><style/>${W(10_001)}</text>`],
    ['text after a style in a value', LETTERS, `<text a="<style>">${W(10_001)}</text>`],
    ['text after a style with a bracket', LETTERS, `<text><style a=">"/>${W(10_001)}</text>`],
    ['text after a style in a comment', LETTERS, `<text><!-- <style> -->${W(10_001)}</text>`],
    ['text after a closed style', LETTERS, `<text><style>a</style>${W(10_001)}</text>`],
    ['letters within comments that are data', LETTERS, `<text><![CDATA[<!--]]>${W(10_001)}--></text>`],
    ['letters within a comment of a value', LETTERS, `<text a="<!--">${W(10_001)}--></text>`],
    ['style', 'with fewer styles', `<style>${W(1_000_001)}</style>`],
    ['style for so many', 'with fewer styles', `<style>${W(20_000)}</style>${'<g/>'.repeat(60_000)}`],
    ['the content of an entity', LETTERS, '&a;'.repeat(20), doctype(`<!ENTITY a "${W(600)}">`)],
    ['an entity, in its length', ENTITIES, '&a;', doctype(`<!ENTITY a "${W(10_000)}">`)],
    ['entities of entities', ENTITIES, '&b;', doctype('<!ENTITY a "x"><!ENTITY b "&a;&a;">')],
    ['entities of elements', ENTITIES, '&a;', doctype('<!ENTITY a "<g/>">')],
    ['entities that open a comment', ENTITIES, `${W(10_001)}-->`, doctype('<!ENTITY a "<!--">')],
    ['entities of parameters', ENTITIES, '', doctype('<!ENTITY % a "x">')],
    ['entities from elsewhere', ENTITIES, '&a;', doctype('<!ENTITY a SYSTEM "file:///etc/passwd">')],
    ['document types', ENTITIES, '', '<!DOCTYPE svg><!DOCTYPE svg>'],
    ['text after a type that opens a comment', LETTERS, `${W(10_001)}-->`, '<!DOCTYPE svg SYSTEM "<!--">'],
  ] as const) {
    it(`refuse ${what}`, () => {
      expect(tooMuchOf(svg(content, before))).to.equal(expected)
    })
  }

  // All of these are what librsvg draws as an SVG or takes for styles.
  const within = encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg"/>')
  for (const [what, content, before] of [
    ['in base64', `<image href="data:image/svg+xml;base64,${btoa('<svg xmlns=""/>')}"/>`],
    ['percent-encoded', `<image xlink:href='data:image/svg+xml,${within}'/>`],
    ['without a media type', `<image href="data:,${within}"/>`],
    [
      'of another media type',
      `<image href="data:application/octet-stream;base64,${btoa('<svg xmlns=""/>')}"/>`,
    ],
    ['as a font', `<use href="data:font/woff2,${within}#x"/>`],
    ['with a long media type', `<image href="data:${W(500)},${within}"/>`],
    ['in capitals', `<image href=" DATA:IMAGE/SVG+XML,${within}"/>`],
    ['with entities', `<image href="d&#97;ta:image/svg+xml,${within}"/>`],
    ['with line breaks', `<image href="da&#10;ta:image/s&#xA;vg+xml,${within}"/>`],
    ['with an entity', `<image href="d&a;ta:,${within}"/>`, doctype('<!ENTITY a "a"><!ENTITY a "b">')],
    ['as a colour', `<path fill="url(data:image/svg+xml,${within}#x)"/>`],
    ['as a colour with escapes', `<path fill="url(d\\61 ta:image/svg+xml,${within}#x)"/>`],
    ['as a colour in a style', `<style>a{fill:url(&quot;data:,${within}#x&quot;)}</style>`],
    ['that is included', `<xi:include href="x"/>`],
    ['as styles', '<style>@import "data:text/css,a{}";</style>'],
    ['as styles with a tab', '<style>@import "da\tta:text/css,a{}";</style>'],
    ['as styles over two lines', '<style>@import "da\\\nta:text/css,a{}";</style>'],
    ['as styles that look like an image', `<style>@\\69mport "data:;base64,${btoa('GIF89a{}')}";</style>`],
    ['as styles before it', '', '<?xml-stylesheet href="d&#97;ta:image/gif;base64,R0lGOD"?>'],
  ] as const) {
    it(`refuse an SVG or styles within, ${what}`, () => {
      expect(tooMuchOf(svg(content, before))).to.equal(FOREIGN)
    })
  }

  it('are checked in no noticeable time, whatever the file contains', () => {
    for (const part of [
      '<',
      '<!',
      '<!-',
      '<g a="',
      `<g a='>`,
      '&a;',
      '<style>',
      'a="1" ',
      'a=""',
      '<!DOCTYPE [',
      ']]>',
      '<?a?>',
      '\t',
      'data:',
      '<g a="data:;base64,d09G"/>',
      '<image href="data:;base64,iVBOR"/>',
      'data:;base64,iVBORw ',
      'iVBOR%',
      '\\61 ',
      'opacity ',
    ]) {
      for (const [before, behind] of [
        ['', ''],
        ['<g a="', '"/>'],
        ['<!DOCTYPE svg [<!ENTITY a "b">]><svg>', ''],
      ] as const) {
        const xml = Buffer.from(
          before + part.repeat(Math.floor(sized(1_048_000, 4_194_000) / part.length)) + behind,
        )
        // With all of 4 MB 4 to 110 ms of a core; what looks from every part to the end takes minutes.
        inspectSvg(xml)
      }
    }
  })

  for (const [what, width, height, expected] of [
    ['accept embedded images within the limit', 30, 20, undefined],
    [
      'refuse embedded images above it',
      40,
      20,
      'expected an SVG with at most 1300 pixels in embedded images to transform but this one has more',
    ],
  ] as const) {
    it(what, async () => {
      const picture = await sharp({ create: { width, height, channels: 3, background: 'red' } })
        .png()
        .toBuffer()
      const image = `<image width="4" height="4" href="data:image/png;base64,${picture.toString('base64')}"/>`
      const drawn = transformed(svg(image.repeat(2)), 'f=png', {
        format: 'svg',
        limits: { sourceMaxPixels: 1300 },
      })
      if (expected) expect(await rejection(drawn)).to.include({ status: 422, message: expected })
      else expect((await drawn).metadata.width).to.equal(9)
    })
  }

  it('refuse embedded images that cannot be read', async () => {
    const error = await rejection(
      transformed(svg('<image href="data:;base64,iVBORw0KGgoAAAA"/>'), 'f=png', { format: 'svg' }),
    )
    expect(error).to.include({ status: 422, code: 'not_transformable' })
  })

  it('are checked before anything is drawn', async () => {
    const error = await rejection(transformed(svg(`<text>${W(10_001)}</text>`), 'w=5', { format: 'svg' }))
    expect(error).to.be.instanceOf(Problem).that.includes({ status: 422, code: 'not_transformable' })
    expect(error).to.have.property(
      'message',
      'expected an SVG of at most 10000 characters of text to transform but this one exceeds that limit',
    )
  })

  it('accept an ordinary SVG', async () => {
    const { metadata } = await transformed(svg('<text y="9">words</text>'), 'w=5', { format: 'svg' })
    expect(metadata.width).to.equal(5)
  })
})
