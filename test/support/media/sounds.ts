import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { temporaryFolder } from '../temporary-folder.ts'
import { sound } from './videos.ts'

const execute = promisify(execFile)

/** What a decoder makes of sound. */
export interface HeardSound {
  container: string
  codec: string
  /** Of what was decoded. */
  seconds: number
  channels: number
  sampleRate: number
  /** Bit rate of the stream, in kbit/s, if the file states it. */
  kilobits: number
  streams: number
  tags: Readonly<Record<string, string>>
  /** The highest sample of all channels, from 0 to 1. */
  peak: number
}

/** Listens to a file as a player would. */
export async function heard(bytes: Uint8Array): Promise<HeardSound> {
  return withFile(bytes, async (file) => {
    const args = ['-v', 'error', '-show_format', '-show_streams', '-of', 'json', file]
    const { stdout } = await execute('ffprobe', args)
    const { streams, format } = JSON.parse(stdout)
    const { codec_name: codec, channels, sample_rate: rate, bit_rate: bits } = streams[0]
    const decoded = ['-v', 'error', '-i', file, '-f', 's16le', '-c:a', 'pcm_s16le', '-']
    const pcm = await execute('ffmpeg', decoded, { encoding: 'buffer', maxBuffer: 100_000_000 })
    let peak = 0
    for (let at = 0; at < pcm.stdout.length; at += 2)
      peak = Math.max(peak, Math.abs(pcm.stdout.readInt16LE(at)))
    return {
      codec,
      channels,
      container: format.format_name,
      streams: streams.length,
      seconds: pcm.stdout.length / 2 / channels / Number(rate),
      sampleRate: Number(rate),
      kilobits: Number(bits ?? format.bit_rate) / 1000,
      tags: { ...format.tags, ...streams[0].tags },
      peak: peak / 32_768,
    }
  })
}

/** How loud it is, by EBU R128: LUFS, and the highest peak between samples in dBTP. */
export async function loudness(bytes: Uint8Array): Promise<{ integrated: number; truePeak: number }> {
  return withFile(bytes, async (file) => {
    const filter = ['-nostats', '-i', file, '-af', 'ebur128=peak=true', '-f', 'null', '-']
    const { stderr } = await execute('ffmpeg', ['-hide_banner', ...filter])
    const summary = stderr.slice(stderr.lastIndexOf('Summary:'))
    const [, integrated] = /I:\s+(\S+) LUFS/.exec(summary) ?? []
    const [, truePeak] = /Peak:\s+(\S+) dBFS/.exec(summary) ?? []
    return { integrated: Number(integrated), truePeak: Number(truePeak) }
  })
}

/**
 * A tone of 440 Hz. Each second has the next volume of `levels`, from 0 to 1.
 * @param options.options further output options of ffmpeg
 */
export function tone({
  levels,
  format = 'wav',
  options = [],
}: {
  levels: readonly number[]
  format?: string
  options?: readonly string[]
}): Promise<Buffer> {
  const level = levels.reduceRight((rest, one, i) => `if(lt(t,${i + 1}),${one},${rest})`, '0')
  const source = `aevalsrc='${level}*sin(2*PI*440*t)':d=${levels.length}:s=44100`
  return sound({ source, format, options })
}

async function withFile<T>(bytes: Uint8Array, work: (file: string) => Promise<T>): Promise<T> {
  const folder = await temporaryFolder()
  try {
    const file = join(folder, 'sound')
    await writeFile(file, bytes)
    return await work(file)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
