import type { Size } from './box.ts'

/** The box around an image that is rotated by an angle in degrees; in whole pixels, rounded up. */
export function turnedSize({ width, height }: Size, angle: number): Size {
  const radians = (angle * Math.PI) / 180
  const [sin, cos] = [Math.abs(Math.sin(radians)), Math.abs(Math.cos(radians))]
  // Rounding errors of floats must not add a pixel.
  const whole = (length: number) => Math.ceil(length - 1e-9)
  return { width: whole(width * cos + height * sin), height: whole(width * sin + height * cos) }
}
