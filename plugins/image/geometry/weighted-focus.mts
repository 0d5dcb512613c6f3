import type { Box, Point, Size } from '../../../src/core/geometry/box.ts'
import type { Opened } from '../../../src/core/plugin-api/plugin.ts'

/** Cells of the longest side. A crop is placed with the precision of a cell: 2 percent. */
const CELLS = 48
// Grey walls and dark corners have a little saturation, noise has weak edges.
const MIN_SATURATION = 0.25
const MIN_EDGE = 40

/** How much there is of something in each cell of an image, from 0. */
interface Score {
  values: Float64Array
  across: number
  down: number
}

interface Pixels extends Size {
  /** Red, green, blue, alpha. */
  data: Buffer
}

/**
 * The centre of the crop that has most of what the weights ask for. Each map of scores has a sum of 1, so the weights compare
 * faces with text, whatever their sizes. Content in the middle of the crop counts more than content at its edges.
 *
 * @param weights of faces, text and colour, each from 0
 * @param options.boxes the faces, in pixels of the source
 * @returns undefined when the image has nothing of it
 */
export async function weightedFocus(
  { draft }: Opened<'sharp'>,
  [face = 0, text = 0, colour = 0]: readonly number[],
  { boxes, cut, source }: { boxes: readonly Box[]; cut: Size; source: Size },
): Promise<Point | undefined> {
  const { data, info } = await draft
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  const pixels = { data, width: info.width, height: info.height }
  const grid = gridOf(pixels)
  const scores = [
    { weight: face, of: () => shareOfBoxes(grid, boxes, source) },
    { weight: text, of: () => sumOver(grid, pixels, edges(pixels)) },
    { weight: colour, of: () => sumOver(grid, pixels, saturationAt(pixels)) },
  ]
  const all = { ...grid, values: new Float64Array(grid.across * grid.down) }
  for (const { weight, of } of scores) if (weight > 0) add(all, distinct(of()), weight)
  if (!all.values.some((value) => value > 0)) return undefined
  return bestCrop(all, {
    across: Math.max(1, Math.round((cut.width / source.width) * all.across)),
    down: Math.max(1, Math.round((cut.height / source.height) * all.down)),
  })
}

function gridOf({ width, height }: Size): { across: number; down: number } {
  const scale = Math.min(1, CELLS / Math.max(width, height))
  return {
    across: Math.max(1, Math.round(width * scale)),
    down: Math.max(1, Math.round(height * scale)),
  }
}

// A view of the four bytes would take ten times as long.
function pixelAt(data: Buffer, at: number): readonly [number, number, number, number] {
  return [data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0, data[at + 3] ?? 0]
}

/** Saturated colours, as in HSV. Nearly black pixels look grey, whatever their saturation. */
function saturationAt({ data }: Pixels) {
  return (at: number) => {
    const [r, g, b, alpha] = pixelAt(data, at)
    const most = Math.max(r, g, b)
    const range = (most - Math.min(r, g, b)) / 255
    return range < MIN_SATURATION ? 0 : (range * alpha) / 255
  }
}

/** Strong edges in both directions. Letters have many of them, and few other things have. */
function edges({ data, width, height }: Pixels) {
  const light = (at: number) => {
    const [r, g, b, alpha] = pixelAt(data, at)
    return ((0.299 * r + 0.587 * g + 0.114 * b) * alpha) / 255
  }
  const lights = Float64Array.from({ length: width * height }, (_, i) => light(4 * i))
  return (at: number) => {
    const i = at / 4
    const [x, y] = [i % width, Math.floor(i / width)]
    if (x === 0 || y === 0 || x === width - 1 || y === height - 1) return 0
    const of = (index: number) => lights[index] ?? 0
    // Against the mean of its neighbours: a straight border between two areas counts little, a thin line much.
    const contrast = Math.abs(4 * of(i) - of(i - 1) - of(i + 1) - of(i - width) - of(i + width)) / 2
    return contrast < MIN_EDGE ? 0 : Math.min(1, contrast / 255)
  }
}

function sumOver(
  { across, down }: { across: number; down: number },
  { width, height }: Size,
  valueAt: (at: number) => number,
): Score {
  const values = new Float64Array(across * down)
  for (let y = 0; y < height; y++) {
    const row = Math.floor((y * down) / height) * across
    for (let x = 0; x < width; x++) {
      const cell = row + Math.floor((x * across) / width)
      values[cell] = (values[cell] ?? 0) + valueAt(4 * (y * width + x))
    }
  }
  return { values, across, down }
}

/** The part of each cell that boxes cover. */
function shareOfBoxes(
  { across, down }: { across: number; down: number },
  boxes: readonly Box[],
  { width, height }: Size,
): Score {
  const values = new Float64Array(across * down)
  const overlap = (from: number, length: number, cell: number, side: number) =>
    Math.max(0, Math.min(from + length, (cell + 1) * side) - Math.max(from, cell * side)) / side
  for (const { left, top, ...box } of boxes)
    for (let i = 0; i < values.length; i++) {
      const horizontal = overlap(left, box.width, i % across, width / across)
      const vertical = overlap(top, box.height, Math.floor(i / across), height / down)
      values[i] = (values[i] ?? 0) + horizontal * vertical
    }
  return { values, across, down }
}

/** What is above the mean: grass everywhere says nothing about where to crop. */
function distinct({ values, ...grid }: Score): Score {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return { ...grid, values: values.map((value) => Math.max(0, value - mean)) }
}

function add(to: Score, { values }: Score, weight: number): void {
  const sum = values.reduce((total, value) => total + value, 0)
  if (sum > 0)
    for (const [i, value] of values.entries()) to.values[i] = (to.values[i] ?? 0) + (weight * value) / sum
}

/** The centre of the best place of a crop with this many cells. Of equal places, the one nearest to the middle. */
function bestCrop(score: Score, { across, down }: { across: number; down: number }): Point {
  const rows = windows(down)
  const columns = windows(across)
  const [lastX, lastY] = [score.across - across, score.down - down]
  let best = { sum: -1, distance: 0, x: 0, y: 0 }
  for (let top = 0; top <= lastY; top++)
    for (let left = 0; left <= lastX; left++) {
      let sum = 0
      for (const [y, ofRow] of rows.entries())
        for (const [x, ofColumn] of columns.entries())
          sum += ofRow * ofColumn * (score.values[(top + y) * score.across + left + x] ?? 0)
      const distance = Math.abs(2 * left - lastX) + Math.abs(2 * top - lastY)
      const isBetter = sum > best.sum + 1e-9 || (sum > best.sum - 1e-9 && distance < best.distance)
      if (isBetter) best = { sum, distance, x: left, y: top }
    }
  return { x: (best.x + across / 2) / score.across, y: (best.y + down / 2) / score.down }
}

/** The weights of the cells of a crop, along one side: 1 in the middle, 0.3 at the edges. */
function windows(cells: number): number[] {
  return Array.from({ length: cells }, (_, i) => 1 - 0.7 * ((2 * i + 1) / cells - 1) ** 2)
}
