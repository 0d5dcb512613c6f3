import sharp, { type Sharp } from 'sharp'
import type { Size } from '../../../src/core/geometry/box.ts'
import type { Color } from '../../../src/core/media/color.ts'
import type { Font } from './fonts.mts'
import type { Layer } from './overlay.mts'

/** Smaller letters may not be visible at all. */
export const MIN_SIZE = 4

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Returns the text as Pango markup. Markup in the text itself is escaped. */
export function asPangoMarkup(
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

/** The font of a text, and the place for its lines. */
export interface Lines {
  font: Font
  room: Size
  align: 'left' | 'centre' | 'right'
}

// Smaller letters give other line breaks, so the size that fits is found by trial.
const TRIES = 4

/** Renders the text in a size that fits: the given one, or a smaller one. */
export async function renderedWithin(markup: string, lines: Lines & { size: number }): Promise<Layer> {
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

/** Draws a text on a box of one colour that is larger on each side. */
export async function onBox(
  text: Layer,
  { color, padding }: { color: Color; padding: number },
): Promise<Layer> {
  const [width, height] = [text.width + 2 * padding, text.height + 2 * padding]
  const letters = { width: text.width, height: text.height, channels: 4 as const }
  const box = sharp({ create: { width, height, channels: 4, background: color } })
  return layerOf(box.composite([{ input: text.data, raw: letters, left: padding, top: padding }]))
}
