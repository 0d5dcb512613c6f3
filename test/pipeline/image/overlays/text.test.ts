import { execFile } from 'node:child_process'
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import sharp from 'sharp'
import { knownFormat } from '../../../../src/core/media/formats.ts'
import { Problem } from '../../../../src/core/problem.ts'
import { PluginError } from '../../../../src/pipeline/load/plugin-error.ts'
import { createPlanner } from '../../../../src/pipeline/plan/plan.ts'
import { animation, colourAt } from '../../../support/media/images.ts'
import { rejection } from '../../../support/rejection.ts'
import { everyNth, itLong, sized } from '../../../support/sized.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { loadWith } from '../../load/drop-ins.ts'
import { type Transformation, transformed } from '../transform.ts'

const plain = (width: number, height: number, background = '#000') =>
  sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer()

/** Where a picture is not black: the box around it, and how many pixels are more than half white. */
async function inkOf(bytes: Buffer) {
  const { data, info } = await sharp(bytes)
    .removeAlpha()
    .greyscale()
    .raw()
    .toBuffer({ resolveWithObject: true })
  const box = { left: info.width, top: info.height, right: -1, bottom: -1 }
  let pixels = 0
  for (const [i, value] of data.entries()) {
    if (value < 20) continue
    const [x, y] = [i % info.width, Math.floor(i / info.width)]
    box.left = Math.min(box.left, x)
    box.top = Math.min(box.top, y)
    box.right = Math.max(box.right, x)
    box.bottom = Math.max(box.bottom, y)
    if (value > 127) pixels += 1
  }
  return { ...box, width: box.right - box.left + 1, height: box.bottom - box.top + 1, pixels }
}

describe('image-text', () => {
  const written = async (
    params: Record<string, string>,
    source?: Buffer,
    more: Partial<Transformation> = {},
  ) => transformed(source ?? (await plain(400, 200)), String(new URLSearchParams(params)), more)
  const ink = async (params: Record<string, string>, source?: Buffer, more: Partial<Transformation> = {}) =>
    inkOf((await written(params, source, more)).bytes)

  it('draws text in the requested size, in the middle', async () => {
    const small = await ink({ text: 'HHH' })
    // A capital letter of DejaVu Sans is 0.73 of the size high.
    expect(small.height).to.be.closeTo(0.73 * 32, 2)
    expect(Math.abs(small.left - (399 - small.right)), 'in the middle across').to.be.at.most(2)
    expect(Math.abs(small.top - (199 - small.bottom)), 'in the middle down').to.be.at.most(2)
    const large = await ink({ text: 'HHH', text_size: '64' })
    expect(large.height / small.height).to.be.closeTo(2, 0.15)
    expect(large.width / small.width).to.be.closeTo(2, 0.15)
  })

  for (const [place, left, top] of everyNth(2, [
    ['northwest', 0, 0],
    ['north', 0.5, 0],
    ['northeast', 1, 0],
    ['east', 1, 0.5],
    ['southeast', 1, 1],
    ['south', 0.5, 1],
    ['southwest', 0, 1],
    ['west', 0, 0.5],
    ['center', 0.5, 0.5],
    ['top-left', 0, 0],
  ] as const)) {
    it(`draws it in the ${place}, with a margin to the edge`, async () => {
      const box = await ink({ text: 'Hi', text_pos: place })
      const [across, down] = [400 - box.width, 200 - box.height]
      expect(box.left).to.be.closeTo(16 + left * (across - 32), 3)
      expect(box.top).to.be.closeTo(16 + top * (down - 32), 3)
    })
  }

  it('draws it in the requested colour and opacity', async () => {
    const blue = await plain(100, 60, '#0000ff')
    // A letter that is all ink in its middle.
    const middle = async (params: Record<string, string>) => {
      const { bytes } = await written({ text: '█', text_size: '40', ...params }, blue)
      return Object.values(await colourAt(bytes, 50, 30)).slice(0, 3)
    }
    expect(await middle({})).to.deep.equal([255, 255, 255])
    expect(await middle({ text_color: 'red' })).to.deep.equal([255, 0, 0])
    expect(await middle({ text_color: '0a0b0c' })).to.deep.equal([10, 11, 12])
    for (const params of [
      { text_opacity: '50' },
      { text_color: 'ff000080' },
      { text_color: '#f008', text_opacity: '94' },
    ]) {
      const [r = 0, g = 0, b = 0] = await middle({ text_color: 'red', ...params })
      expect(r, JSON.stringify(params)).to.be.closeTo(127, 2)
      expect(g).to.equal(0)
      expect(b).to.be.closeTo(128, 2)
    }
    const [r = 0] = await middle({ text_color: 'red', text_opacity: '1' })
    expect(r).to.be.closeTo(3, 1)
  })

  it('wraps a long text into lines that fit the image', async () => {
    const words = 'a text of several words that is far too long for a single line'
    const box = await ink({ text: words, text_size: '24' })
    expect(box.width).to.be.at.most(400 - 24)
    expect(box.height).to.be.above(2 * 24)
    const word = await ink({ text: 'H'.repeat(60), text_size: '24' })
    expect(word.width).to.be.at.most(400 - 24)
    expect(word.height).to.be.above(2 * 24)
  })

  it('shrinks a text that does not fit, so that all of it is in the image', async () => {
    for (const [width, height] of [
      [60, 60],
      [300, 12],
      [12, 300],
    ] as const) {
      const text =
        'A text of a hundred letters in a picture that is too small to hold it in the size that is asked for'
      const source = await plain(width, height)
      const { metadata, bytes } = await written({ text, text_size: '300' }, source)
      expect(metadata).to.include({ width, height })
      expect((await inkOf(bytes)).width, `${width} x ${height}`).to.be.above(0)
    }
    for (const side of [1, 5]) {
      const { metadata } = await written({ text: 'too small for a letter' }, await plain(side, side))
      expect(metadata).to.include({ width: side, height: side })
    }
    const box = await ink({ text: 'H'.repeat(20), text_size: '300' })
    expect(box.width, 'no smaller than it need be').to.be.above(200)
  })

  it('limits the area of many large letters, which must be drawn before it is known', async () => {
    const { height } = await ink({ text: 'i'.repeat(200), text_size: '300' }, await plain(3000, 3000))
    // Six lines as asked for, of 350 px each; three of 160 px as drawn.
    expect(height).to.be.within(300, 800)
  })

  it('aligns the lines to the side of the text', async () => {
    const lines = `${'H'.repeat(14)} i`
    for (const [place, expected] of [
      ['west', 'left'],
      ['east', 'right'],
      ['center', 'middle'],
    ] as const) {
      const { bytes } = await written({ text: lines, text_pos: place }, await plain(360, 200))
      const all = await inkOf(bytes)
      const below = all.top + Math.floor(all.height / 2) + 4
      const second = await sharp(bytes)
        .extract({ left: 0, top: below, width: 360, height: 200 - below })
        .png()
        .toBuffer()
      const { left, right } = await inkOf(second)
      const side = left - all.left < 8 ? 'left' : all.right - right < 8 ? 'right' : 'middle'
      expect(side, place).to.equal(expected)
    }
  })

  const others = ['&lt;', '&amp;amp;', '<', '&', '"', "'", '%s\\u0041', '<!--', ']]>']
  for (const text of ['<b>bold</b>', '</span><span size="1">x', '&#65;', ...sized([], others)]) {
    it(`shows ${text} letter by letter`, async () => {
      // As wide in a font of one width as any text of as many letters.
      const asIs = await ink({ text: `H${text}H`, text_font: 'mono', text_size: '16' })
      const other = await ink({
        text: `H${'x'.repeat([...text].length)}H`,
        text_font: 'mono',
        text_size: '16',
      })
      expect(asIs.width).to.be.closeTo(other.width, 1)
    })
  }

  it('shows letters of other scripts, each one different', async () => {
    const seen = new Set<string>()
    for (const text of ['Привет', 'Ωμέγα', 'ĂȘŢŁ', 'été', 'Ж', 'Я', '→', '€']) {
      const { bytes } = await written({ text })
      expect((await inkOf(bytes)).pixels, text).to.be.above(20)
      seen.add(bytes.toString('base64'))
    }
    expect(seen).to.have.property('size', 8)
    // One letter, however it is written.
    expect(
      (await written({ text: 'e\u0301' })).bytes.equals((await written({ text: '\u00e9' })).bytes),
    ).to.equal(true)
  })

  it('is reported in a note when its characters are drawn as boxes', async () => {
    const { transforms } = await loadWith({})
    const lacking = ['Arabic', 'Chinese', 'Hindi', 'Japanese', 'Thai'] as const
    const notesOf = (query: Record<string, string>, lacksFont?: () => typeof lacking) =>
      createPlanner(
        transforms,
        [],
        lacksFont ? { lacksFont } : {},
      )({
        query: Object.entries(query),
        format: knownFormat('png'),
        preferences: {},
      }).notes
    const here = () => lacking
    expect(notesOf({ text: '日本の文字' }, here)).to.deep.equal([
      'text with boxes: no font for Chinese and Japanese',
    ])
    expect(notesOf({ text2: 'สวัสดี', text: 'abc' }, here)).to.deep.equal([
      'text2 with boxes: no font for Thai',
    ])
    // The fonts that come with Sluice have Arabic letters, and those of the machine Korean ones; the rest is not drawn.
    for (const query of [
      { text: 'مرحبا' },
      { text: '한국어' },
      { text: 'abc äöü' },
      { text: '日本', text_opacity: '0', text_bg: 'fff' },
    ])
      expect(notesOf(query, here), JSON.stringify(query)).to.deep.equal([])
    // Not known yet.
    expect(notesOf({ text: '日本' })).to.deep.equal([])
  })

  itLong('needs no fonts of the machine', async () => {
    // A process that loads all plugins by tsx, on a machine with other things to do.
    const script = `
      const { transformed } = await import(${JSON.stringify(join(import.meta.dirname, '..', 'transform.ts'))})
      const source = Buffer.from(process.argv[1], 'base64')
      const { bytes } = await transformed(source, 'text=%D0%96%CE%A9g&text_font=serif-bold')
      process.stdout.write(bytes.toString('base64'))`
    const source = await plain(200, 100)
    const home = await temporaryFolder()
    const config = join(home, 'fonts.conf')
    // Without a file it would look where fonts usually are.
    await writeFile(config, '<?xml version="1.0"?><fontconfig></fontconfig>')
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '--eval', script, source.toString('base64')],
      { env: { PATH: process.env.PATH, HOME: home, FONTCONFIG_FILE: config } },
    )
    const here = await inkOf((await transformed(source, 'text=%D0%96%CE%A9g&text_font=serif-bold')).bytes)
    const there = await inkOf(Buffer.from(stdout, 'base64'))
    // How finely edges are drawn is the machine's to say.
    expect(there.width).to.be.closeTo(here.width, 2)
    expect(there.height).to.be.closeTo(here.height, 2)
    expect(there.pixels / here.pixels).to.be.closeTo(1, 0.1)
  })

  itLong('includes fonts, which differ', async () => {
    const widths = new Map<string, number>()
    for (const font of ['sans', 'sans-bold', 'serif', 'serif-bold', 'mono', 'mono-bold']) {
      const { width, pixels } = await ink({ text: 'Willi', text_font: font })
      widths.set(font, width * 10_000 + pixels)
    }
    expect(new Set(widths.values())).to.have.property('size', 6)
    expect((await ink({ text: 'iiii', text_font: 'mono' })).height).to.be.above(10)
    const [narrow, wide] = [await ink({ text: 'iiii' }), await ink({ text: 'iiii', text_font: 'mono' })]
    expect(wide.width).to.be.above(1.5 * narrow.width)
  })

  it('refuses an unknown font, and lists the known ones', async () => {
    for (const font of ['comic', 'Arial', '../../etc/passwd', '', '/usr/share/fonts/x.ttf']) {
      const error = await rejection(written({ text: 'x', text_font: font }))
      expect(error).to.be.instanceOf(Problem).that.includes({ status: 400, code: 'bad_parameter' })
      expect(error).to.have.property(
        'message',
        `expected one of sans, sans-bold, serif, serif-bold, mono, mono-bold for text_font but received ${JSON.stringify(font)}`,
      )
    }
  })

  it('refuses a text without a visible character', async () => {
    for (const text of ['\u200b', '\u200b \u200b']) {
      const error = await rejection(written({ text }))
      expect(error).to.be.instanceOf(Problem).that.includes({ status: 400, code: 'bad_parameter' })
      expect(error)
        .to.have.property('message')
        .that.matches(/^expected a text with visible characters for text but received /)
    }
  })

  it('does nothing without a text, or with a transparent one', async () => {
    const base = await plain(40, 40)
    const untouched = await transformed(base, 'f=png')
    for (const params of [
      { text_size: '50', text_color: 'red' },
      { text: 'x', text_opacity: '0' },
      { text: 'x', text_color: 'transparent' },
    ] as Array<Record<string, string>>) {
      expect((await written(params, base)).bytes.equals(untouched.bytes), JSON.stringify(params)).to.equal(
        true,
      )
    }
  })

  it('is not in the key when it does nothing', async () => {
    const plan = createPlanner((await loadWith({})).transforms, [])
    const variant = (query: string) =>
      plan({ query: new URLSearchParams(query), format: knownFormat('png'), preferences: {} }).variant
    for (const nothing of ['text_size=50', 'text=x&text_opacity=0', 'text=x&text_color=0000']) {
      expect(variant(nothing), nothing).to.equal('default')
    }
    expect(variant('text=x&text_color=white&text_pos=centre')).to.equal('text=x')
    expect(variant('text=a%20b')).to.match(/^~[0-9a-f]{32}$/)
    expect(variant('text=%20x%20')).to.equal('text=x')
  })

  it('is scaled by the device pixel ratio, in the output size', async () => {
    const source = await plain(800, 400)
    const one = await ink({ text: 'HHH', w: '200' }, source)
    const two = await ink({ text: 'HHH', w: '200', dpr: '2' }, source)
    expect(one.height).to.be.closeTo(0.73 * 32, 2)
    expect(two.height).to.be.closeTo(2 * 0.73 * 32, 3)
  })

  it('is drawn over a watermark, and not changed by effects', async () => {
    const { bytes } = await written({
      text: '█',
      text_color: 'red',
      text_size: '40',
      negate: '',
      greyscale: '',
    })
    expect(await colourAt(bytes, 200, 100)).to.include({ r: 255, g: 0, b: 0 })
    expect(await colourAt(bytes, 5, 5)).to.include({ r: 255, g: 255, b: 255 })
  })

  it('is on every frame of an animation, which keeps its timing', async () => {
    const frames = await animation({ width: 60, height: 40, colours: ['#000', '#001', '#010'] })
    const timed = await sharp(frames, { animated: true })
      .gif({ delay: [50, 200, 110] })
      .toBuffer()
    const options = { format: 'gif' }
    const { bytes, metadata } = await transformed(timed, 'text=Hi&text_size=20&text_pos=south', options)
    expect(metadata).to.include({ pages: 3, width: 60, height: 40 })
    expect(metadata.delay).to.deep.equal([50, 200, 110])
    for (const page of [0, 1, 2]) {
      const box = await inkOf(await sharp(bytes, { page, pages: 1 }).png().toBuffer())
      // Ten px off the edge would be half its size; a tenth of the height is less.
      expect(box.bottom, `frame ${page}`).to.be.closeTo(39 - 4, 1)
      expect(box.left, `frame ${page}`).to.be.closeTo(59 - box.right, 2)
      expect(box.height, `frame ${page}`).to.be.closeTo(0.76 * 20, 2)
    }
  })

  describe('fonts of the operator', () => {
    const DEJAVU = join(
      dirname(createRequire(import.meta.url).resolve('dejavu-fonts-ttf/package.json')),
      'ttf',
    )
    let fonts: string
    before(async () => {
      fonts = await temporaryFolder()
      await copyFile(join(DEJAVU, 'DejaVuSansCondensed-Oblique.ttf'), join(fonts, 'House Style.TTF'))
      await writeFile(join(fonts, 'LICENSE.txt'), 'not looked at')
      await mkdir(join(fonts, 'deeper'))
    })
    const withFonts = (folder: unknown) => loadWith({}, { options: { 'image-text': { fonts: folder } } })

    it('have the names of their files, in addition to the included fonts', async () => {
      const { transforms } = await withFonts(fonts)
      const own = await ink({ text: 'Willi', text_font: 'house-style' }, undefined, { transforms })
      const sans = await ink({ text: 'Willi', text_font: 'sans' }, undefined, { transforms })
      expect(own.width).not.to.equal(sans.width)
      const error = await rejection(written({ text: 'x', text_font: 'comic' }, undefined, { transforms }))
      expect(error).to.have.property('message').that.includes('mono-bold, house-style for text_font')
    })

    it('stop the start when they are invalid', async () => {
      const broken = await temporaryFolder()
      for (const [name, bytes] of [
        ['page.ttf', '<html>'],
        ['short.otf', Buffer.alloc(12)],
        ['endless.ttf', Buffer.alloc(64, 0xff)],
      ] as const) {
        const file = join(broken, name)
        await writeFile(file, bytes)
        const error = await rejection(withFonts(broken))
        expect(error).to.be.instanceOf(PluginError)
        expect((error as Error).message).to.include(`${file}: expected a TrueType or OpenType font`)
        await rm(file)
      }
      expect(await rejection(withFonts(join(broken, 'nowhere')))).to.be.instanceOf(PluginError)
      expect(await rejection(withFonts(7)))
        .to.have.property('message')
        .that.includes('expected the option fonts to be a folder but received 7')
    })

    it('stop the start when two have the same name', async () => {
      const twice = await temporaryFolder()
      for (const name of ['A b.ttf', 'a-B.ttf'])
        await copyFile(join(DEJAVU, 'DejaVuSans.ttf'), join(twice, name))
      const error = await rejection(withFonts(twice))
      expect((error as Error).message).to.match(/the font a-b is already defined by .*Rename one of them/)
    })
  })
})
