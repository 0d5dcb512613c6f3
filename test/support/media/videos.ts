import { execFile } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { temporaryFolder } from '../temporary-folder.ts'

const execute = promisify(execFile)

export interface VideoOptions {
  /** What each second shows, by CSS names; the upper left quarter is white. */
  colours?: readonly string[]
  width?: number
  height?: number
  /** Frames a second. */
  rate?: number
  /** Further output options of ffmpeg. */
  options?: readonly string[]
  /** How the colours are stored: BT.601 by default. */
  matrix?: 'bt601' | 'bt709'
  /** A file's extension. */
  format?: string
}

/** A video with one colour per second. */
export async function video({
  colours = ['red', 'green', 'blue'],
  width = 160,
  height = 120,
  rate = 10,
  options = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'],
  matrix = 'bt601',
  format = 'mp4',
}: VideoOptions = {}): Promise<Buffer> {
  const inputs = colours.flatMap((colour) => [
    ...['-f', 'lavfi', '-i'],
    `color=${colour}:s=${width}x${height}:r=${rate}:d=1,format=rgb24`,
  ])
  const joined = colours.map((_, i) => `[${i}:v]`).join('')
  const graph = `${joined}concat=n=${colours.length},drawbox=0:0:iw/2:ih/2:white:fill,scale=out_color_matrix=${matrix}`
  return madeOnce(['-filter_complex', graph, ...options], { inputs, format })
}

/**
 * A second of grey, of 10 bits, for HDR or a wide gamut: with the brightness of `rgb` in the encoding of `transfer`.
 * @param options.rgb full range of 8 bits a channel: 148 is white on paper for `smpte2084`
 */
export function wideVideo({
  rgb,
  transfer,
  said = transfer,
}: {
  rgb: readonly [number, number, number]
  transfer: string
  /** The transfer function that the file states. */
  said?: string
}): Promise<Buffer> {
  const color = Buffer.from(rgb).toString('hex')
  const source = `color=0x${color}:s=64x48:r=5:d=1,format=gbrp10le`
  const stored = `zscale=min=gbr:pin=2020:tin=${transfer}:rin=full:m=2020_ncl:p=2020:t=${transfer}:r=limited`
  const tags = `log-level=error:pools=1:colorprim=bt2020:transfer=${said}:colormatrix=bt2020nc`
  const options = ['-vf', `${stored},format=yuv420p10le`, '-c:v', 'libx265', '-preset', 'ultrafast']
  return madeOnce([...options, '-x265-params', tags], {
    inputs: ['-f', 'lavfi', '-i', source],
    format: 'mp4',
  })
}

/** What ffmpeg makes of a file with these options, nothing of it decoded: turned, with a cover, in another container. */
export async function remuxed(
  bytes: Uint8Array,
  options: readonly string[],
  {
    format = 'mp4',
    inputs = [],
    times = 1,
  }: {
    format?: string
    inputs?: readonly string[]
    /** How often it comes, one after the other. */
    times?: number
  } = {},
): Promise<Buffer> {
  const folder = await temporaryFolder()
  try {
    const source = join(folder, 'source')
    await writeFile(source, bytes)
    const looped = ['-stream_loop', String(times - 1), '-i', source]
    return await made(['-c', 'copy', ...options], { inputs: [...looped, ...inputs], format })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A file of sound only. */
export function sound({
  format = 'mp4',
  seconds = 1,
  source = `sine=d=${seconds}`,
  options = [],
}: {
  format?: string
  seconds?: number
  /** By ffmpeg's filters. */
  source?: string
  options?: readonly string[]
} = {}): Promise<Buffer> {
  return madeOnce(options, { inputs: ['-f', 'lavfi', '-i', source], format })
}

const known = new Map<string, Promise<Buffer>>()

/** Like {@link made}, for what the arguments alone determine: each file is made once per test process, and copied. */
function madeOnce(...given: Parameters<typeof made>): Promise<Buffer> {
  return once(JSON.stringify(given), () => made(...given))
}

async function once(name: string, make: () => Promise<Buffer>): Promise<Buffer> {
  const bytes = known.get(name) ?? make()
  known.set(name, bytes)
  return Buffer.from(await bytes)
}

/** What ffmpeg makes with these arguments. */
async function made(
  args: readonly string[],
  { inputs, format }: { inputs: readonly string[]; format: string },
): Promise<Buffer> {
  const folder = await temporaryFolder()
  try {
    const file = join(folder, `made.${format}`)
    await execute('ffmpeg', ['-nostdin', '-v', 'error', '-threads', '1', ...inputs, ...args, file])
    return await readFile(file)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The result of ffprobe for a video. */
export interface ProbedVideo {
  container: string
  seconds: number
  width: number
  height: number
  videoCodec: string
  audioCodec: string | undefined
  pixelFormat: string
  /** In seconds from the start. */
  keyFrames: number[]
  frames: number
  /** Of the container, and of the pictures: `rotate`, `location`. */
  tags: Readonly<Record<string, string>>
  rotation: number | undefined
  colorSpace: string | undefined
}

/** Looks at a file as a player would. */
export async function probed(bytes: Uint8Array): Promise<ProbedVideo> {
  const folder = await temporaryFolder()
  try {
    const file = join(folder, 'video')
    await writeFile(file, bytes)
    const args = ['-v', 'error', '-show_format', '-show_streams', '-of', 'json', '-show_packets', file]
    const { stdout } = await execute('ffprobe', args, { maxBuffer: 100_000_000 })
    const { streams, format, packets } = JSON.parse(stdout)
    const pictures = streams.find(({ codec_type: type }: { codec_type: string }) => type === 'video')
    const sound = streams.find(({ codec_type: type }: { codec_type: string }) => type === 'audio')
    const frames = (packets as Packet[]).filter(({ stream_index: index }) => index === pictures?.index)
    const keys = frames.filter(({ flags }) => flags.startsWith('K'))
    return {
      container: format.format_name,
      seconds: Number(format.duration),
      width: pictures?.width,
      height: pictures?.height,
      videoCodec: pictures?.codec_name,
      audioCodec: sound?.codec_name,
      pixelFormat: pictures?.pix_fmt,
      keyFrames: keys.map((one) => Math.round(Number(one.pts_time ?? one.dts_time) * 1000) / 1000),
      frames: frames.length,
      tags: { ...format.tags, ...pictures?.tags },
      rotation: pictures?.side_data_list?.[0]?.rotation,
      colorSpace: pictures?.color_space,
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

interface Packet {
  stream_index: number
  flags: string
  pts_time?: string
  dts_time: string
}

/** A film with sound, of as many seconds as there are colours. Like {@link video}, each is made once per test process. */
export function film(options: VideoOptions = {}): Promise<Buffer> {
  return once(`film ${JSON.stringify(options)}`, () => newFilm(options))
}

async function newFilm(options: VideoOptions): Promise<Buffer> {
  const pictures = await video(options)
  const seconds = options.colours?.length ?? 3
  const inputs = ['-f', 'lavfi', '-i', `sine=d=${seconds}`]
  const sound = ['-map', '0', '-map', '1:a', '-c:a', 'aac']
  return remuxed(pictures, sound, { inputs, format: options.format ?? 'mp4' })
}

/** A film of half a minute, of which a machine of today makes a stream for a second at least: red, green and blue in turn. */
export function longFilm({ rate = 10 }: Pick<VideoOptions, 'rate'> = {}): Promise<Buffer> {
  return once(`long film ${rate}`, async () =>
    remuxed(await film({ width: 854, height: 480, rate }), ['-map', '0'], { times: 10 }),
  )
}

/** The same length in a small size of which a stream has two renditions, for an ffmpeg that is slowed down. */
export function slowFilm(): Promise<Buffer> {
  return once('slow film', async () =>
    remuxed(await film({ width: 450, height: 450, rate: 3 }), ['-map', '0'], { times: 10 }),
  )
}

/** An mp4 of ten frames a second in which every header states a duration of two hours. */
export function lengthened(bytes: Uint8Array): Buffer {
  const lying = Buffer.from(bytes)
  for (const box of ['mvhd', 'tkhd', 'mdhd', 'elst', 'stts']) lengthen(lying, box)
  return lying
}

/** Sets the duration in all boxes of this name of an mp4 to two hours. */
function lengthen(bytes: Buffer, box: string): void {
  const at = bytes.indexOf(box)
  if (at === -1) throw new Error(`there is no ${box}`)
  const length = { mvhd: 20, tkhd: 24, mdhd: 20, elst: 12, stts: 12 }[box] ?? 0
  const scales: Record<string, number> = {
    mdhd: bytes.readUInt32BE(at + 16),
    // How many frames there are, ten a second.
    stts: 10,
  }
  bytes.writeUInt32BE(7200 * (scales[box] ?? 1000), at + length)
}
