import type { Size } from './box.ts'

/** The box around an image that is rotated by an angle in degrees; in whole pixels, rounded as libvips does. */
export function turnedSize({ width, height }: Size, angle: number): Size {
  const radians = (angle * Math.PI) / 180
  const [sin, cos] = [Math.abs(Math.sin(radians)), Math.abs(Math.cos(radians))]
  return {
    width: Math.round(width * cos + height * sin),
    height: Math.round(width * sin + height * cos),
  }
}
