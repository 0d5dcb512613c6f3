import { crc32, deflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')

export interface ApngFrame {
  /** Red, green, blue and alpha of all pixels. */
  colour: readonly [number, number, number, number]
  /** Numerator and denominator, in seconds. */
  delay: readonly [number, number]
}

/**
 * An animated PNG of frames in one colour.
 *
 * @param options.hidden a colour of the default image, when that is not a frame of the animation
 */
export function apng(
  frames: readonly ApngFrame[],
  {
    width = 8,
    height = 6,
    loop = 0,
    count = frames.length,
    hidden,
  }: { width?: number; height?: number; loop?: number; count?: number; hidden?: ApngFrame['colour'] } = {},
): Buffer {
  const data = (colour: ApngFrame['colour']) => {
    const row = Buffer.concat([Buffer.from([0]), ...Array.from({ length: width }, () => Buffer.from(colour))])
    return deflateSync(Buffer.concat(Array.from({ length: height }, () => row)))
  }
  const header = Buffer.concat([words(width, height), Buffer.from([8, 6, 0, 0, 0])])
  let number = 0
  const control = ({ delay: [numerator, denominator] }: ApngFrame) => {
    const times = Buffer.from([numerator >> 8, numerator & 255, denominator >> 8, denominator & 255, 0, 0])
    return chunk('fcTL', Buffer.concat([words(number++, width, height, 0, 0), times]))
  }
  const shown = frames.flatMap((frame, i) =>
    i === 0 && !hidden
      ? [control(frame), chunk('IDAT', data(frame.colour))]
      : [control(frame), chunk('fdAT', Buffer.concat([words(number++), data(frame.colour)]))],
  )
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('acTL', words(count, loop)),
    ...(hidden ? [chunk('IDAT', data(hidden))] : []),
    ...shown,
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function words(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, 4 * i)
  return bytes
}

function chunk(type: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), content])
  return Buffer.concat([words(content.length), named, words(crc32(named))])
}
