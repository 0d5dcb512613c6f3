/** A small image: four bytes per pixel, row by row. At most 64 KB. */
export interface SmallImage {
  width: number
  height: number
  rgba: Uint8Array
}

const SIGNATURE = [137, 80, 78, 71, 13, 10, 26, 10]

/**
 * The image as the data URL of a PNG, without compression: a canvas would need a browser.
 *
 * @see https://www.w3.org/TR/png-3/
 */
export function pngDataUrl({ width, height, rgba }: SmallImage): string {
  const stride = 4 * width
  // Each row begins with its filter: none.
  const rows = Array.from({ length: height }, (_, y) => [0, ...rgba.subarray(y * stride, (y + 1) * stride)])
  const png = [
    ...SIGNATURE,
    // 8 bits per channel, RGBA.
    ...chunk('IHDR', [...int32(width), ...int32(height), 8, 6, 0, 0, 0]),
    ...chunk('IDAT', stored(rows.flat())),
    ...chunk('IEND', []),
  ]
  return `data:image/png;base64,${btoa(png.map((byte) => String.fromCharCode(byte)).join(''))}`
}

function chunk(type: string, data: readonly number[]): number[] {
  const body = [...[...type].map((char) => char.charCodeAt(0)), ...data]
  return [...int32(data.length), ...body, ...int32(crc32(body))]
}

/** A zlib stream with one stored block: RFC 1950 and RFC 1951, section 3.2.4. */
function stored(data: readonly number[]): number[] {
  const { length } = data
  const sizes = [length & 255, length >> 8, ~length & 255, (~length >> 8) & 255]
  return [0x78, 0x01, 1, ...sizes, ...data, ...int32(adler32(data))]
}

function int32(value: number): number[] {
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255)
}

function crc32(data: readonly number[]): number {
  let crc = ~0
  for (const byte of data) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc
}

function adler32(data: readonly number[]): number {
  let [low, high] = [1, 0]
  for (const byte of data) {
    low = (low + byte) % 65521
    high = (high + low) % 65521
  }
  return high * 65536 + low
}
