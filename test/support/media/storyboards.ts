import { expect } from 'chai'
import sharp from 'sharp'

/** One cue of a storyboard. */
export interface BoardCue {
  /** In seconds. */
  from: number
  until: number
  /** The URL of the sprite, as it is written in the cues. */
  sprite: string
  /** In pixels of the sprite. */
  tile: { left: number; top: number; width: number; height: number }
}

const TIMES = /^(\d\d):(\d\d):(\d\d\.\d{3}) --> (\d\d):(\d\d):(\d\d\.\d{3})$/

/** Reads WebVTT whose cues are parts of an image, and refuses any other content. */
export function cuesOf(text: string): BoardCue[] {
  const [head, ...blocks] = text.replace(/\n$/, '').split('\n\n')
  expect(head).to.equal('WEBVTT')
  return blocks.map((block) => {
    const [times = '', place = '', ...rest] = block.split('\n')
    expect(times).to.match(TIMES)
    expect(rest, block).to.deep.equal([])
    const [, ...parts] = TIMES.exec(times) ?? []
    const [h = 0, m = 0, s = 0, h2 = 0, m2 = 0, s2 = 0] = parts.map(Number)
    const [sprite = '', area = ''] = place.split('#xywh=')
    const [left = 0, top = 0, width = 0, height = 0] = area.split(',').map(Number)
    const seconds = (...[hours, minutes, rest]: [number, number, number]) =>
      Math.round(1000 * (3600 * hours + 60 * minutes + rest)) / 1000
    return {
      from: seconds(h, m, s),
      until: seconds(h2, m2, s2),
      sprite,
      tile: { left, top, width, height },
    }
  })
}

/** The colour in the middle of the lower right quarter of a tile, by its CSS name; else its numbers. */
export async function colourOf(sprite: Buffer, { tile }: Pick<BoardCue, 'tile'>): Promise<string> {
  const { left, top, width, height } = tile
  const spot = { left: left + Math.floor(width * 0.75), top: top + Math.floor(height * 0.75) }
  const pixel = sharp(sprite).extract({ ...spot, width: 1, height: 1 })
  const rgb = [...(await pixel.removeAlpha().raw().toBuffer())]
  const near = Object.entries(COLOURS).find(([, wanted]) =>
    wanted.every((value, i) => Math.abs(value - Number(rgb[i])) < 12),
  )
  return near?.[0] ?? String(rgb)
}

const COLOURS = {
  red: [255, 0, 0],
  green: [0, 128, 0],
  blue: [0, 0, 255],
  white: [255, 255, 255],
  black: [0, 0, 0],
}
