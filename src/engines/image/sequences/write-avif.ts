import { randomUUID } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ran } from '../../ffmpeg/process.ts'
import type { Running } from '../../programs/run.ts'
import type { SequenceEncoding } from '../source.ts'
import { unnamedFile } from './read-frames.ts'
import { withTiming } from './write-timing.ts'

/** Frames of the same size, one after the other, with 8 bits per channel. */
export interface Frames {
  data: Buffer
  width: number
  /** Of one frame. */
  height: number
  /** 3 for RGB, 4 with transparency. */
  channels: 3 | 4
  pages: number
}

// Of libaom, from 0 (the best) to 63.
const WORST_QUANTIZER = 63
// The fastest of libaom's modes for files.
const SPEED = ['-usage', 'good', '-cpu-used', '8', '-row-mt', '1', '-lag-in-frames', '16']
// Of frames with none or a shorter one: browsers show GIFs so, and AVIFs as they are.
const USUAL_DELAY_MS = 100
const LONGEST_IGNORED_MS = 10
// Units in which any duration can be written afterwards.
const IN_MILLISECONDS = '[0:v]settb=1/1000,setpts=N*100'
const COLOURS = ['-color_primaries', 'bt709', '-color_trc', 'iec61966-2-1', '-color_range', 'pc']

/**
 * Encodes an animation as an image sequence of AVIF. libheif writes still images only, so ffmpeg encodes them, with libaom.
 *
 * @param timing of the frames, in milliseconds; `loop` is 0 for an endless animation
 * @throws Problem 422 when it takes too long, 501 without ffmpeg
 */
export async function writeAvif(
  { data, width, height, channels, pages }: Frames,
  {
    timing: { delay, loop },
    encoding: { quality, lossless },
    programs,
    cores,
  }: {
    timing: { delay: readonly number[]; loop: number }
    encoding: SequenceEncoding
    programs: Running
    cores: number
  },
): Promise<Buffer> {
  const delays = Array.from({ length: pages }, (_, i) => shownFor(delay[i] ?? 0))
  const colours = lossless ? 'format=gbrp' : 'scale=out_color_matrix=bt709:out_range=pc,format=yuv420p'
  const hasAlpha = channels === 4 && !isOpaque(data)
  const graph = hasAlpha
    ? `${IN_MILLISECONDS},split[c][a];[c]${colours}[cc];[a]alphaextract,format=gray[aa]`
    : `${IN_MILLISECONDS},${colours}[cc]`
  const target = join(tmpdir(), `sluice-sequence-${randomUUID()}.avif`)
  const crf = lossless ? 0 : Math.round((WORST_QUANTIZER * (100 - quality)) / 100)
  const args = [
    ...['-nostdin', '-v', 'error', '-timelimit', String(cores * Math.ceil(programs.timeoutMs / 1000))],
    ...['-f', 'rawvideo', '-pix_fmt', channels === 4 ? 'rgba' : 'rgb24', '-s', `${width}x${height}`],
    ...['-protocol_whitelist', 'file', '-i', 'file:/dev/stdin'],
    ...['-filter_complex', graph, '-map', '[cc]', ...(hasAlpha ? ['-map', '[aa]'] : [])],
    ...['-c:v', 'libaom-av1', ...SPEED, '-crf', String(crf), '-b:v', '0', '-threads', String(cores)],
    ...(lossless ? ['-aom-params', 'lossless=1', '-colorspace', 'rgb'] : ['-colorspace', 'bt709']),
    ...[...COLOURS, '-vsync', 'passthrough', '-enc_time_base', '1/1000', '-f', 'avif', '-y', target],
  ]
  const stdin = await unnamedFile(data)
  try {
    await ran('ffmpeg', args, { ...programs, group: 'image', maxBytes: 0, stdin: stdin.fd })
    return withTiming(await readFile(target), { delays, loop })
  } finally {
    await stdin.close()
    await rm(target, { force: true })
  }
}

function shownFor(delay: number): number {
  return delay > LONGEST_IGNORED_MS ? delay : USUAL_DELAY_MS
}

/** Whether no pixel of RGBA is transparent. A second track would double the file. */
function isOpaque(data: Buffer): boolean {
  for (let at = 3; at < data.length; at += 4) if (data[at] !== 255) return false
  return true
}
