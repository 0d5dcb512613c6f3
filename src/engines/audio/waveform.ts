import sharp from 'sharp'
import { type Asset, assetFromBytes } from '../../core/bytes/asset.ts'
import type { Waveform } from './source.ts'

/** The lowest and the highest sample of each of many equal parts of sound, from -32768 to 32767. */
export interface Peaks {
  /** In turns: lowest, highest. */
  data: Int16Array
  samplesPerPart: number
}

/** Finds peaks in samples that come piece by piece, of a number that nobody knows. */
export interface PeakFinder {
  /** Takes samples of 16 bits, lowest byte first. A piece may end within one. */
  take(chunk: Buffer): void
  /** In at most so many parts; none without samples. */
  peaks(atMost: number): Peaks
}

// 4 MB, and a hundred of them for each pixel of the widest: what is lost where they do not fit is not seen.
const MAX_PARTS = 1_000_000

/** Makes a finder. A part begins as one sample; whenever there are too many, two become one. @param maxParts even */
export function findPeaks(maxParts = MAX_PARTS): PeakFinder {
  let data: Int16Array = new Int16Array(2 * maxParts)
  let samplesPerPart = 1
  let parts = 0
  // Of the last part, until it is full.
  let missing = 0
  // Of a sample that a piece has cut in two.
  let rest = Buffer.alloc(0)

  const begin = (sample: number) => {
    if (parts === maxParts) {
      data = together(data, { parts, each: 2, into: new Int16Array(2 * maxParts) })
      parts /= 2
      samplesPerPart *= 2
    }
    data[2 * parts] = sample
    data[2 * parts + 1] = sample
    parts += 1
    missing = samplesPerPart - 1
  }
  const add = (sample: number) => {
    if (missing === 0) return begin(sample)
    const at = 2 * (parts - 1)
    if (sample < Number(data[at])) data[at] = sample
    if (sample > Number(data[at + 1])) data[at + 1] = sample
    missing -= 1
  }

  return {
    take(chunk) {
      const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
      const end = bytes.length - (bytes.length % 2)
      rest = Buffer.from(bytes.subarray(end))
      for (let at = 0; at < end; at += 2) add(bytes.readInt16LE(at))
    },
    peaks(atMost) {
      const each = Math.max(1, Math.ceil(parts / atMost))
      const into = new Int16Array(2 * Math.ceil(parts / each))
      return { data: together(data, { parts, each, into }), samplesPerPart: samplesPerPart * each }
    },
  }
}

/** The first `parts` of some, `each` so many together, the last of them perhaps fewer. */
function together(
  data: Int16Array,
  { parts, each, into }: { parts: number; each: number; into: Int16Array },
): Int16Array {
  for (let from = 0; from < parts; from += each) {
    const several = data.subarray(2 * from, 2 * Math.min(parts, from + each))
    const at = 2 * (from / each)
    into[at] = several.reduce((lowest, value) => Math.min(lowest, value))
    into[at + 1] = several.reduce((highest, value) => Math.max(highest, value))
  }
  return into
}

/**
 * Draws peaks: as numbers in the way of BBC's audiowaveform, which players know, or as a picture.
 *
 * @see https://github.com/bbc/audiowaveform/blob/master/doc/DataFormat.md
 */
export async function drawn(
  { data, samplesPerPart }: Peaks,
  { waveform, sampleRate }: { waveform: Waveform; sampleRate: number },
): Promise<Asset> {
  const lastModified = new Date()
  if (waveform.format === 'png') {
    const bytes = await pictureOf(data, waveform)
    return assetFromBytes(bytes, { mediaType: 'image/png', lastModified })
  }
  const described = {
    version: 2,
    channels: 1,
    sample_rate: sampleRate,
    samples_per_pixel: samplesPerPart,
    bits: 8,
    length: data.length / 2,
    data: Array.from(data, (sample) => sample >> 8),
  }
  const bytes = Buffer.from(JSON.stringify(described))
  return assetFromBytes(bytes, { mediaType: 'application/json', lastModified })
}

/** Black on what is transparent: a column of each part, around the middle, of at least one pixel. */
async function pictureOf(data: Int16Array, { width, height }: Waveform): Promise<Buffer> {
  const pixels = Buffer.alloc(width * height * 4)
  const rowOf = (sample: number) => Math.floor(((32_767 - sample) / 65_536) * height)
  for (let x = 0; x < width; x += 1) {
    const part = Math.floor((x * data.length) / 2 / width)
    const bottom = rowOf(Number(data[2 * part]))
    for (let y = rowOf(Number(data[2 * part + 1])); y <= bottom; y += 1) pixels[(y * width + x) * 4 + 3] = 255
  }
  return sharp(pixels, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer()
}
