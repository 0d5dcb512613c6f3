import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import sharp, { type OverlayOptions } from 'sharp'
import { readStart } from '../../../core/bytes/asset.ts'
import type { TextInspector } from '../../../core/plugin-api/inspectors.ts'
import { decodedText } from '../../../core/text/decoded-text.ts'
import type { Decoder } from '../decoders/decoder.ts'
import { checkPage } from '../pixel-limits.ts'
import { lineCount, linesOnPage } from './text-lines.ts'

// A page in A4, at 150 pixels per inch.
const PAGE = { width: 1240, height: 1754 }
const MARGIN = 84
const FONTS = 'dejavu-fonts-ttf'
const FONT_FILE = join('ttf', 'DejaVuSansMono.ttf')
// Its letters are 13 px wide: 80 columns and 58 lines fit between the margins.
const FONT = 'DejaVu Sans Mono 22'
const LINE_HEIGHT = 27
// Pango omits the empty space above and to the left of all letters. A block in a line of its own keeps it, and is cut off.
const BLOCK = '\u2580'

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/**
 * The first lines of a text file, in a monospaced font on a white page. The file is only read as text: markup and scripts have
 * no effect. Letters that the shipped font lacks are drawn with the fonts of the system.
 */
export const text: Decoder = {
  library: 'Pango',
  // The letters with alpha, and the page. Lines of letters of other fonts may be wider than the page.
  bytesPerPixel: 24,

  facts: () => ({ ...PAGE, hasAlpha: false }),

  async decode(bytes, { check, page: number = 1 }) {
    checkPage(number, { pages: 1 })
    check(PAGE)
    const white = sharp({ create: { ...PAGE, channels: 3, background: 'white' } })
    const page = white.composite(await drawn(linesOnPage(decodedText(bytes).text))).removeAlpha()
    return { bytes: await page.tiff({ compression: 'none' }).toBuffer(), mediaType: 'image/tiff' }
  },
}

// Its lines are counted in 10 ms. A larger text is most likely a log or a table, which would be read only for this number.
const COUNTED_BYTES = 1024 * 1024

/** The facts about texts, from their first bytes. */
export const textInspector: TextInspector = {
  async facts(source, signal) {
    const { text, encoding } = decodedText(await readStart(source, { maxBytes: COUNTED_BYTES, signal }))
    const counted = source.size <= COUNTED_BYTES ? { lines: lineCount(text) } : {}
    return { encoding, ...counted, ...PAGE, pages: 1 }
  },
}

/** The letters of these lines, without what exceeds the page; nothing for empty lines. */
async function drawn(lines: readonly string[]): Promise<OverlayOptions[]> {
  const markup = [BLOCK, ...lines].join('\n').replace(/[&<>]/g, (letter) => ESCAPES[letter] ?? '')
  const fontfile = join(dirname(createRequire(import.meta.url).resolve(`${FONTS}/package.json`)), FONT_FILE)
  // One point is one pixel.
  const text = { text: markup, font: FONT, fontfile, dpi: 72, rgba: true, wrap: 'none' } as const
  const { data, info } = await sharp({ text }).raw().toBuffer({ resolveWithObject: true })
  const width = Math.min(info.width, PAGE.width - MARGIN)
  const height = Math.min(info.height - LINE_HEIGHT, PAGE.height - 2 * MARGIN)
  if (height <= 0) return []
  const letters = sharp(data, { raw: { width: info.width, height: info.height, channels: 4 } })
  const input = await letters.extract({ left: 0, top: LINE_HEIGHT, width, height }).raw().toBuffer()
  return [{ input, raw: { width, height, channels: 4 }, left: MARGIN, top: MARGIN }]
}
