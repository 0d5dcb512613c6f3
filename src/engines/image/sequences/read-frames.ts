import { randomUUID } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { guardedInput } from '../../ffmpeg/input.ts'
import { ran } from '../../ffmpeg/process.ts'
import { scratchProblem } from '../../temp/scratch.ts'
import type { DecodeOptions } from '../decoders/decoder.ts'

// Decoders hold frames with borders.
const PADDING = 128

/** Which frames ffmpeg reads, and how. */
export interface Reading extends Required<Pick<DecodeOptions, 'programs' | 'page'>> {
  /** The name of ffmpeg's demuxer, and options for it. */
  input: { demuxer: string; options?: readonly string[] }
  /** A filter graph of ffmpeg, from the input to one stream of pictures. */
  filter: string
  /** Of a frame, in pixels. */
  width: number
  height: number
  /** 3 for RGB, 4 with transparency. */
  channels: number
  /** The number of frames, from `page` on. */
  pages: number
}

/**
 * Reads frames of an animation into `pixels`, with 8 bits per channel, one frame after the other.
 *
 * @throws Error for a file from which ffmpeg reads other frames than its header states, Problem 501 without ffmpeg
 */
export async function readFrames(
  bytes: Buffer,
  pixels: Buffer,
  { input, filter, width, height, channels, page, pages, programs }: Reading,
): Promise<void> {
  const args = [
    ...['-nostdin', '-v', 'error', '-threads', '1'],
    // The kernel ends ffmpeg at this CPU time, also when this process has been killed.
    ...['-timelimit', String(Math.ceil(programs.timeoutMs / 1000))],
    ...guardedInput(input.demuxer, (width + PADDING) * (height + PADDING)),
    ...(input.options ?? []),
    ...['-noautorotate', '-i', 'file:/dev/stdin'],
    ...['-filter_complex', `${filter},trim=start_frame=${page - 1}`],
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
  if (at !== pixels.length) throw new Error('the frames of the animation are incomplete')
}

/**
 * ffmpeg has to seek in the file. A file without a name leaves nothing behind, not even when this process is killed.
 *
 * @throws Problem 503 when the disk is full
 */
export async function unnamedFile(bytes: Buffer) {
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
