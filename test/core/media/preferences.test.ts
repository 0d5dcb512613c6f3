import { expect } from 'chai'
import { headersOf, hintsOf, onlyPreferences, preferencesOf } from '../../../src/core/media/preferences.ts'

describe('preferences', () => {
  for (const [headers, expected] of [
    [{}, {}],
    [{ accept: '' }, {}],
    [{ accept: 'image/webp' }, { accept: 'image/webp' }],
    [{ 'sec-ch-dpr': '2' }, { dpr: 2 }],
    [{ dpr: '1.25' }, { dpr: 1.5 }],
    [{ dpr: '1', 'sec-ch-dpr': '3' }, { dpr: 3 }],
    // Pages at another zoom.
    [{ 'sec-ch-dpr': '1.0000001' }, { dpr: 1 }],
    [{ 'sec-ch-dpr': '0.5' }, { dpr: 1 }],
    [{ 'sec-ch-dpr': '99' }, { dpr: 4 }],
    [{ 'sec-ch-width': '400' }, { width: 400 }],
    [{ 'sec-ch-width': '401.5' }, { width: 500 }],
    [{ 'sec-ch-width': '1' }, { width: 100 }],
    [{ 'sec-ch-width': '999999' }, { width: 4000 }],
    [{ width: '320' }, { width: 400 }],
    // The viewport is in CSS pixels, and less exact than the width of the image.
    [{ 'sec-ch-viewport-width': '390' }, { width: 400 }],
    [
      { 'viewport-width': '390', 'sec-ch-dpr': '3' },
      { dpr: 3, width: 1200 },
    ],
    [
      { 'sec-ch-viewport-width': '1500', 'sec-ch-width': '640', dpr: '2' },
      { dpr: 2, width: 700 },
    ],
  ] as const)
    it(`of ${JSON.stringify(headers)} are ${JSON.stringify(expected)}`, () =>
      expect(preferencesOf(headers)).to.deep.equal(expected))

  it('ignore an invalid hint, like one that is absent', () => {
    for (const wrong of ['', '0', '0.0', '-1', '1e3', 'abc', '2, 3', '1234567', ' 2', 'NaN', '٣'])
      expect(preferencesOf({ 'sec-ch-dpr': wrong, 'sec-ch-width': wrong }), wrong).to.deep.equal({})
    expect(preferencesOf({ 'sec-ch-dpr': 'abc', dpr: '2' })).to.deep.equal({ dpr: 2 })
    expect(preferencesOf({ dpr: ['1', '2'] })).to.deep.equal({})
  })

  it('have at most 7 ratios and 40 widths, whatever is sent', () => {
    const [ratios, widths] = [new Set(), new Set()]
    for (let i = 0; i < 10_000; i++) {
      ratios.add(preferencesOf({ dpr: (i / 1000).toFixed(3) }).dpr ?? 1)
      widths.add(preferencesOf({ width: String(i + 1) }).width)
    }
    expect([ratios.size, widths.size]).to.deep.equal([7, 40])
  })

  it('name the headers on which they depend, each once', () => {
    expect(headersOf(['accept'])).to.deep.equal(['Accept'])
    expect(headersOf(['accept', 'dpr', 'width'])).to.deep.equal([
      'Accept',
      'Sec-CH-DPR',
      'DPR',
      'Sec-CH-Width',
      'Width',
      'Sec-CH-Viewport-Width',
      'Viewport-Width',
    ])
    expect(hintsOf(['accept'])).to.deep.equal([])
    expect(hintsOf(['accept', 'dpr'])).to.deep.equal(['Sec-CH-DPR', 'DPR'])
  })

  it('are selected by name', () => {
    const all = { accept: 'x', dpr: 2, width: 400 }
    expect(onlyPreferences(all, ['dpr', 'width'])).to.deep.equal({ dpr: 2, width: 400 })
    expect(onlyPreferences({}, ['dpr'])).to.deep.equal({})
  })
})
