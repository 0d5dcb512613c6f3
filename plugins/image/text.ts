import sharp, { type Sharp } from 'sharp'
import type { Size } from '../../src/core/geometry/box.ts'
import { COMPASS, COMPASS_SYNONYMS, COMPASS_WORDS, type CompassWord } from '../../src/core/geometry/focus.ts'
import { colorOf } from '../../src/core/media/color.ts'
import { definePlugin } from '../../src/core/plugin-api/plugin.ts'
import { badParameter } from '../../src/core/problem.ts'
import { type Font, fontNamed, fontsIn, SHIPPED_FONTS } from './fonts.mts'
import { type Layer, laidOver } from './overlay.mts'

// Smaller letters may not be visible at all.
const MIN_SIZE = 4

/**
 * Draws a text over the image, and over every frame of an animation. The text is broken into lines that fit the
 * image, and made smaller when it does not fit.
 */
export default definePlugin({
  name: 'image-text',
  engine: 'sharp',
  phase: 'compose',
  noOriginalFallback: true,
  // The lines and the position depend on the size of the outcome.
  newPass: true,
  params: {
    text: { type: 'text', maxLength: 200, help: 'Text to draw on the image.' },
    text_size: {
      type: 'integer',
      min: MIN_SIZE,
      max: 300,
      unit: 'px',
      default: 32,
      help: 'Font size, multiplied by dpr. A text that does not fit is drawn smaller.',
    },
    text_color: { type: 'color', default: 'ffffff', help: 'Colour of the text.' },
    text_font: {
      type: 'enum',
      values: SHIPPED_FONTS,
      default: 'sans',
      help: 'Font of the text. The operator can add fonts.',
    },
    text_pos: {
      type: 'enum',
      values: COMPASS_WORDS,
      synonyms: COMPASS_SYNONYMS,
      default: 'center',
      help: 'Position of the text.',
    },
    text_opacity: {
      type: 'integer',
      min: 0,
      max: 100,
      unit: 'percent',
      default: 100,
      help: 'Opacity of the text.',
    },
  },
  choices: ({ fonts }) => (fonts === undefined ? {} : { text_font: [...fontsIn(folderOf(fonts)).keys()] }),
  resolve(params) {
    const seen = params.text_opacity > 0 && colorOf(params.text_color).alpha > 0
    return params.text !== undefined && seen ? params : undefined
  },
  needs: () => 'outcome',
  async transform(image, params, { source, options }) {
    const { text = '', text_pos: place, text_font } = params
    const font = fontNamed(text_font, options.fonts === undefined ? undefined : folderOf(options.fonts))
    if (!font) throw new Error(`the font ${text_font} no longer exists`)
    const frame = { width: source.width, height: source.height }
    const size = sizeOf(params.text_size * source.dpr, text)
    // The margin separates letters from the edge, and stays small in a small image.
    const margin = Math.floor(Math.min(size / 2, frame.width / 10, frame.height / 10))
    const room = { width: frame.width - 2 * margin, height: frame.height - 2 * margin }
    const { alpha, ...color } = colorOf(params.text_color)
    const markup = asPangoMarkup(text, color, alpha * (params.text_opacity / 100))
    const layer = await renderedWithin(markup, { font, size, room, align: alignment(place) }).catch(
      (cause) => {
        if (!/no text to render/.test(String(cause))) throw cause
        // Only unusual white space.
        throw badParameter({ param: 'text', expected: 'a text with visible characters', received: text })
      },
    )
    return laidOver(image, source, { layer, place, margin })
  },
})

function folderOf(fonts: unknown): string {
  if (typeof fonts === 'string') return fonts
  throw new Error(`expected the option fonts to be a folder but received ${JSON.stringify(fonts)}`)
}

// Limit of the area of all letters, each as a square of its size: 4 MP are 16 MB. Letters of some scripts are ten
// times as wide.
const MAX_LETTER_PIXELS = 4_000_000

/**
 * Returns the requested size, or a smaller one for many letters, which would cover too much before the fit is known.
 */
function sizeOf(requested: number, text: string): number {
  return Math.floor(Math.min(requested, Math.sqrt(MAX_LETTER_PIXELS / [...text].length)))
}

function alignment(place: CompassWord): 'left' | 'centre' | 'right' {
  const { x } = COMPASS[place]
  return x === 0 ? 'left' : x === 1 ? 'right' : 'centre'
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Returns the text as Pango markup. Markup in the text itself is escaped. */
function asPangoMarkup(
  text: string,
  { r, g, b }: { r: number; g: number; b: number },
  opacity: number,
): string {
  const digits = [r, g, b].map((part) => part.toString(16).padStart(2, '0')).join('')
  const escaped = text.replace(/[&<>"']/g, (letter) => ESCAPES[letter] ?? '')
  // An integer from 1 to 65535.
  const alpha = Math.max(1, Math.round(opacity * 65_535))
  return `<span foreground="#${digits}" alpha="${alpha}">${escaped}</span>`
}

interface Lines {
  font: Font
  room: Size
  align: 'left' | 'centre' | 'right'
}

// Smaller letters give other line breaks, so the size that fits is found by trial.
const TRIES = 4

/** Renders the text in a size that fits: the given one, or a smaller one. */
async function renderedWithin(markup: string, lines: Lines & { size: number }): Promise<Layer> {
  const { room } = lines
  let { size } = lines
  let layer = await drawn(markup, { ...lines, size })
  for (let tries = 1; tries < TRIES && !fits(layer, room) && size > MIN_SIZE; tries += 1) {
    // At half the size there are half as many lines.
    const smaller = Math.min(room.width / layer.width, Math.sqrt(room.height / layer.height))
    size = Math.max(MIN_SIZE, Math.floor(size * Math.min(smaller, 0.99)))
    layer = await drawn(markup, { ...lines, size })
  }
  return fits(layer, room) ? layer : shrunk(layer, room)
}

function fits({ width, height }: Size, room: Size): boolean {
  return width <= room.width && height <= room.height
}

async function drawn(markup: string, { font, size, room, align }: Lines & { size: number }): Promise<Layer> {
  const text = {
    text: markup,
    font: `${font.description} ${size}`,
    fontfile: font.file,
    // One point is one pixel.
    dpi: 72,
    rgba: true,
    width: room.width,
    wrap: 'word-char',
    align,
  } as const
  return layerOf(sharp({ text }))
}

async function shrunk({ data, width, height }: Layer, room: Size): Promise<Layer> {
  return layerOf(sharp(data, { raw: { width, height, channels: 4 } }).resize({ ...room, fit: 'inside' }))
}

async function layerOf(image: Sharp): Promise<Layer> {
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true })
  return { data, width: info.width, height: info.height }
}
