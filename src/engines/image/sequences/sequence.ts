import { randomUUID } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { guardedInput } from '../../ffmpeg/input.ts'
import { ran } from '../../ffmpeg/process.ts'
import { scratchProblem } from '../../temp/scratch.ts'
import type { DecodeOptions, Decoder } from '../decoders/decoder.ts'
import { profileOfPrimaries } from '../decoders/heif-values.ts'
import { tiffOf } from '../decoders/tiff.ts'
import { checkPage } from '../pixel-limits.ts'
import { type Sequence, sequenceIn } from './tracks.ts'

/**
 * Image sequences of AVIF and HEIC: animations. ffmpeg decodes them, as it decodes videos: libheif as WebAssembly has no decoder for
 * AV1, and crashes at frames that are stored in another order than they are shown (1.23).
 */
export const sequence: Decoder = {
  library: 'ffmpeg',
  // Measured with 12 MP in 48 frames: the pixels of ffmpeg and the TIFF.
  bytesPerPixel: 12,

  facts: sequenceIn,

  async decode(bytes, { page = 1, frames = 'first', check, programs }) {
    const found = sequenceIn(bytes)
    if (!programs) throw new Error('the decoder of image sequences needs a program')
    if (!found) throw new Error('the image sequence has no track of images')
    const { width, height, hasAlpha, delays, loop } = found
    checkPage(page, found)
    const pages = frames === 'all' ? found.pages : 1
    check({ width, height, pages })
    const channels = hasAlpha ? 4 : 3
    const pixels = Buffer.allocUnsafe(width * height * channels * pages)
    await readFrames(bytes, pixels, { ...found, channels, page, pages, programs })
    const row = (y: number) => pixels.subarray(y * width * channels, (y + 1) * width * channels)
    const profile = await profileIn(found.colours)
    const tiff = tiffOf({ width, height, channels, pages, ...(profile ? { profile } : {}), row })
    return {
      bytes: tiff,
      mediaType: 'image/tiff',
      ...(pages > 1 ? { timing: { delay: delays(), loop } } : {}),
    }
  },
}

// Decoders hold frames with borders.
const PADDING = 128

type Reading = Pick<Sequence, 'tracks' | 'width' | 'height'> &
  Required<Pick<DecodeOptions, 'programs' | 'page'>> & { channels: number; pages: number }

/** @throws Error for a file from which ffmpeg reads other frames than its header states, Problem 501 without ffmpeg */
async function readFrames(
  bytes: Buffer,
  pixels: Buffer,
  { tracks, width, height, channels, page, pages, programs }: Reading,
): Promise<void> {
  const colours = `[0:${tracks.colours}]`
  const merged = tracks.alpha === undefined ? 'null' : `[0:${tracks.alpha}]alphamerge`
  const args = [
    ...['-nostdin', '-v', 'error', '-threads', '1'],
    // The kernel ends ffmpeg at this CPU time, also when this process has been killed.
    ...['-timelimit', String(Math.ceil(programs.timeoutMs / 1000))],
    ...guardedInput('mov', (width + PADDING) * (height + PADDING)),
    // The edit list repeats the animation, which browsers do themselves.
    ...['-ignore_editlist', '1', '-noautorotate', '-i', 'file:/dev/stdin'],
    ...['-filter_complex', `${colours}${merged},trim=start_frame=${page - 1}`],
    ...['-frames:v', String(pages), '-vsync', 'passthrough', '-f', 'rawvideo'],
    ...['-pix_fmt', channels === 4 ? 'rgba' : 'rgb24', 'pipe:1'],
  ]
  const stdin = await unnamedFile(bytes)
  let at = 0
  const onOutput = (chunk: Buffer) => {
    chunk.copy(pixels, at)
    at += chunk.length
  }
  try {
    await ran('ffmpeg', args, {
      ...programs,
      group: 'image',
      maxBytes: pixels.length,
      onOutput,
      stdin: stdin.fd,
    })
  } finally {
    await stdin.close()
  }
  if (at !== pixels.length) throw new Error('the frames of the image sequence are incomplete')
}

/**
 * ffmpeg has to seek in the file. A file without a name leaves nothing behind, not even when this process is killed.
 *
 * @throws Problem 503 when the disk is full
 */
async function unnamedFile(bytes: Buffer) {
  const path = join(tmpdir(), `sluice-sequence-${randomUUID()}`)
  const file = await open(path, 'wx+', 0o600)
  try {
    await rm(path)
    // With positions: where ffmpeg shares the descriptor, it starts to read at the current one.
    for (let at = 0; at < bytes.length; )
      at += (await file.write(bytes, at, bytes.length - at, at)).bytesWritten
    return file
  } catch (error) {
    await file.close()
    throw scratchProblem(error)
  }
}

/** The ICC profile in a box `colr`, or that of the colours that it names. Undefined: sRGB. */
async function profileIn(colours: Buffer): Promise<Buffer | undefined> {
  const type = colours.toString('latin1', 0, 4)
  if (type === 'prof' || type === 'rICC') return colours.subarray(4)
  return type === 'nclx' ? profileOfPrimaries(colours.readUInt16BE(4)) : undefined
}
