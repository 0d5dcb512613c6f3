import type { Size } from './box.ts'

/** The box around a picture that has been turned by an angle in degrees; whole pixels, rounded up. */
export function turnedSize({ width, height }: Size, angle: number): Size {
  const radians = (angle * Math.PI) / 180
  const [sin, cos] = [Math.abs(Math.sin(radians)), Math.abs(Math.cos(radians))]
  // What a float is past a whole number makes no pixel.
  const whole = (length: number) => Math.ceil(length - 1e-9)
  return { width: whole(width * cos + height * sin), height: whole(width * sin + height * cos) }
}
