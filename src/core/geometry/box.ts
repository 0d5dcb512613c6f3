/** A size in pixels. */
export interface Size {
  width: number
  height: number
}

/** One or both sides of a box, in pixels. */
export interface Sides {
  width?: number | undefined
  height?: number | undefined
}

/** A part of an image, in pixels. `left` and `top` count from the upper left corner. */
export interface Box extends Size {
  left: number
  top: number
}

/** A point in an image, as fractions of its sides: 0, 0 is the upper left corner, 1, 1 the lower right one. */
export interface Point {
  x: number
  y: number
}

/** The part of a box that lies within an image; undefined when the box lies outside. */
export function clippedBox(box: Box, within: Size): Box | undefined {
  const left = Math.max(0, box.left)
  const top = Math.max(0, box.top)
  const width = Math.min(within.width, box.left + box.width) - left
  const height = Math.min(within.height, box.top + box.height) - top
  return width > 0 && height > 0 ? { left, top, width, height } : undefined
}

/** The smallest box around all of them; undefined for an empty list. */
export function unionOf(boxes: readonly Box[]): Box | undefined {
  const [first, ...rest] = boxes
  return (
    first &&
    rest.reduce((union, box) => {
      const left = Math.min(union.left, box.left)
      const top = Math.min(union.top, box.top)
      const right = Math.max(union.left + union.width, box.left + box.width)
      const bottom = Math.max(union.top + union.height, box.top + box.height)
      return { left, top, width: right - left, height: bottom - top }
    }, first)
  )
}

/** A box of this size, whose centre is as near to the point as the edges of the image allow. */
export function boxAround(point: Point, { width, height }: Size, within: Size): Box {
  const place = (at: number, side: number, whole: number) =>
    Math.min(Math.max(at * whole - side / 2, 0), whole - side)
  return {
    left: place(point.x, width, within.width),
    top: place(point.y, height, within.height),
    width,
    height,
  }
}

/** Whether a side is shorter than the given one. Sides that are not given do not count. */
export function isShorter(size: Size, { width = 0, height = 0 }: Sides): boolean {
  return size.width < width || size.height < height
}

/** Whether the size is that of the whole image. */
export function isWhole({ width, height }: Size, of: Size): boolean {
  return width === of.width && height === of.height
}
