import type { Sharp } from 'sharp'
import {
  COMPASS,
  COMPASS_SYNONYMS,
  COMPASS_WORDS,
  type CompassWord,
} from '../../../src/core/geometry/focus.ts'
import { colorOf } from '../../../src/core/media/color.ts'
import { definePlugin, type TransformContext } from '../../../src/core/plugin-api/plugin.ts'
import { badParameter } from '../../../src/core/problem.ts'
import { fontNamed, fontsIn, SHIPPED_FONTS, SHIPPED_SCRIPTS } from './fonts.mts'
import { laidOver } from './overlay.mts'
import { asPangoMarkup, MIN_SIZE, onBox, renderedWithin } from './text-layer.mts'

interface Values {
  text: string | undefined
  size: number
  color: string
  font: string
  place: CompassWord
  align: Align | undefined
  opacity: number
  background: string | undefined
  padding: number
}

type Align = 'left' | 'center' | 'right'

/**
 * A plugin that draws a text over the image, and over every frame of an animation. The text is broken into lines that
 * fit the image, and made smaller when it does not fit.
 *
 * @param text its parameter; the others begin with it
 */
export function textPlugin(name: string, text: string) {
  const valuesOf = (params: Readonly<Record<string, unknown>>) =>
    ({
      text: params[text],
      size: params[`${text}_size`],
      color: params[`${text}_color`],
      font: params[`${text}_font`],
      place: params[`${text}_pos`],
      align: params[`${text}_align`],
      opacity: params[`${text}_opacity`],
      background: params[`${text}_bg`],
      padding: params[`${text}_pad`],
    }) as Values
  return definePlugin({
    name,
    engine: 'sharp',
    phase: 'compose',
    noOriginalFallback: true,
    // The lines and the position depend on the size of the outcome.
    newPass: true,
    params: {
      [text]: { type: 'text', maxLength: 200, lines: true, help: 'Text to draw on the image.' },
      [`${text}_size`]: {
        type: 'integer',
        min: MIN_SIZE,
        max: 300,
        unit: 'px',
        default: 32,
        help: 'Font size, multiplied by dpr. A text that does not fit is drawn smaller.',
      },
      [`${text}_color`]: { type: 'color', default: 'ffffff', help: 'Colour of the text.' },
      [`${text}_font`]: {
        type: 'enum',
        values: SHIPPED_FONTS,
        default: 'sans',
        help: 'Font of the text. The operator can add fonts.',
      },
      [`${text}_pos`]: {
        type: 'enum',
        values: COMPASS_WORDS,
        synonyms: COMPASS_SYNONYMS,
        default: 'center',
        help: 'Position of the text.',
      },
      [`${text}_align`]: {
        type: 'enum',
        values: ['left', 'center', 'right'],
        synonyms: { centre: 'center' },
        help: `Alignment of the lines. Default: by ${text}_pos.`,
      },
      [`${text}_opacity`]: {
        type: 'integer',
        min: 0,
        max: 100,
        unit: 'percent',
        default: 100,
        help: 'Opacity of the text.',
      },
      [`${text}_bg`]: { type: 'color', help: 'Colour of a box behind the text.' },
      [`${text}_pad`]: {
        type: 'integer',
        min: 0,
        max: 200,
        unit: 'px',
        default: 8,
        help: `Padding of the box of ${text}_bg, multiplied by dpr.`,
      },
    },
    choices: ({ fonts }) => {
      const names = fonts === undefined ? undefined : [...fontsIn(folderOf(fonts)).keys()]
      return (names ? { [`${text}_font`]: names } : {}) as Record<never, readonly string[]>
    },
    resolve(params, { note, scriptsWithoutFont }) {
      const { text: letters, opacity, color, font, background, place, align } = valuesOf(params)
      const isSeen = opacity > 0 && colorOf(color).alpha > 0
      const hasBox = background !== undefined && colorOf(background).alpha > 0
      if (letters === undefined || !(isSeen || hasBox)) return undefined
      // The operator's own fonts may have them.
      const isChecked = isSeen && SHIPPED_FONTS.includes(font)
      const lacking = isChecked
        ? scriptsWithoutFont(letters).filter((script) => !SHIPPED_SCRIPTS.includes(script))
        : []
      if (lacking.length > 0) note(`${text} with boxes: no font for ${lacking.join(' and ')}`)
      return {
        ...params,
        // Without effect: removed, so that equal outputs have one name.
        ...(align === alignment(place) ? { [`${text}_align`]: undefined } : {}),
        ...(hasBox ? {} : { [`${text}_bg`]: undefined, [`${text}_pad`]: 8 }),
      }
    },
    needs: () => 'outcome',
    transform: (image, params, context) => draw(image, valuesOf(params), { context, param: text }),
  })
}

async function draw(
  image: Sharp,
  { text = '', place, align, font: named, background, ...values }: Values,
  { context: { source, options }, param }: { context: TransformContext<'sharp'>; param: string },
): Promise<Sharp> {
  const font = fontNamed(named, options.fonts === undefined ? undefined : folderOf(options.fonts))
  if (!font) throw new Error(`the font ${named} no longer exists`)
  const frame = { width: source.width, height: source.height }
  const size = sizeOf(values.size * source.dpr, text)
  // The margin separates letters from the edge, and stays small in a small image.
  const margin = Math.floor(Math.min(size / 2, frame.width / 10, frame.height / 10))
  const smallest = Math.min(frame.width, frame.height) - 2 * margin
  const wanted = background === undefined ? 0 : Math.round(values.padding * source.dpr)
  const padding = Math.min(wanted, Math.floor(smallest / 4))
  const taken = 2 * (margin + padding)
  const room = { width: frame.width - taken, height: frame.height - taken }
  const { alpha, ...color } = colorOf(values.color)
  const markup = asPangoMarkup(text, color, alpha * (values.opacity / 100))
  const lines = {
    font,
    size,
    room,
    align: (align ?? alignment(place)).replace('center', 'centre') as 'centre',
  }
  const letters = await renderedWithin(markup, lines).catch((cause) => {
    if (!/no text to render/.test(String(cause))) throw cause
    // Only unusual white space.
    throw badParameter({ param, expected: 'a text with visible characters', received: text })
  })
  const layer =
    background === undefined ? letters : await onBox(letters, { color: colorOf(background), padding })
  return laidOver(image, source, { layer, place, margin })
}

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

function alignment(place: CompassWord): Align {
  const { x } = COMPASS[place]
  return x === 0 ? 'left' : x === 1 ? 'right' : 'center'
}
