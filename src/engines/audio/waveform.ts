import sharp from 'sharp'
import { type Asset, assetFromBytes } from '../../core/bytes/asset.ts'
import type { Waveform } from './source.ts'

/** The lowest and the highest sample of many equal parts of the audio, from -32768 to 32767. */
export interface Peaks {
  /** Pairs of lowest and highest sample. */
  data: Int16Array
  samplesPerPart: number
}

/** Finds peaks in samples that arrive in pieces, whose number is unknown. */
export interface PeakFinder {
  /** Takes samples of 16 bits, little-endian. A piece may end within a sample. */
  take(chunk: Buffer): void
  /** The peaks in at most `atMost` parts; empty without samples. */
  peaks(atMost: number): Peaks
}

// 4 MB, and a hundred parts for each pixel of the widest waveform, so that merged parts are not visible.
const MAX_PARTS = 1_000_000

/**
 * Creates a finder. Parts begin with one sample each. When there are too many, pairs of parts are merged. @param
 * maxParts even
 */
export function findPeaks(maxParts = MAX_PARTS): PeakFinder {
  let data: Int16Array = new Int16Array(2 * maxParts)
  let samplesPerPart = 1
  let parts = 0
  // Samples that are missing in the last part.
  let missing = 0
  // The first byte of a sample that the end of a piece has cut in two.
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

/** Merges the first `parts` parts, `each` parts into one. The last one may consist of fewer. */
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
 * Renders peaks: as JSON in the format of BBC's audiowaveform, which players support, or as an image.
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

/** Black on a transparent background: one column per part, around the middle, at least one pixel high. */
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
