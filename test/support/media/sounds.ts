import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
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
  /** The bit rate of the stream in kbit/s, as far as the stream states it. */
  kilobits: number
  streams: number
  tags: Readonly<Record<string, string>>
  /** The highest sample of all channels, from 0 to 1. */
  peak: number
}

/**
 * Listens to a file as a player would. One start of ffmpeg describes and decodes it: each start loads 200 libraries,
 * which takes longer than the decoding of seconds.
 */
export async function heard(bytes: Uint8Array): Promise<HeardSound> {
  return withFile(bytes, async (file) => {
    const decoding = [
      '-nostdin',
      '-hide_banner',
      '-nostats',
      '-i',
      file,
      '-f',
      's16le',
      '-c:a',
      'pcm_s16le',
      '-',
    ]
    const { stdout, stderr } = await execute('ffmpeg', decoding, {
      encoding: 'buffer',
      maxBuffer: 100_000_000,
    })
    return { ...described(stderr.toString()), samples: stdout }
  }).then(withSamples)
}

/** Like {@link heard}, for a WAV of 16 bits, without a program. */
export function heardInWav(bytes: Buffer): HeardSound {
  expect(bytes.toString('latin1', 0, 4)).to.equal('RIFF')
  expect(bytes.toString('latin1', 8, 12)).to.equal('WAVE')
  const chunks = new Map<string, Buffer>()
  for (let at = 12; at + 8 <= bytes.length; ) {
    const size = bytes.readUInt32LE(at + 4)
    chunks.set(bytes.toString('latin1', at, at + 4), bytes.subarray(at + 8, at + 8 + size))
    at += 8 + size + (size % 2)
  }
  const format = chunks.get('fmt ') ?? Buffer.alloc(16)
  expect([format.readUInt16LE(0), format.readUInt16LE(14)], 'PCM of 16 bits').to.deep.equal([1, 16])
  const [channels, sampleRate] = [format.readUInt16LE(2), format.readUInt32LE(4)]
  const kilobits = (16 * channels * sampleRate) / 1000
  const known = { container: 'wav', codec: 'pcm_s16le', channels, sampleRate, kilobits, streams: 1, tags: {} }
  return withSamples({ ...known, samples: chunks.get('data') ?? Buffer.alloc(0) })
}

function withSamples({
  samples,
  ...known
}: Omit<HeardSound, 'seconds' | 'peak'> & { samples: Buffer }): HeardSound {
  let peak = 0
  for (let at = 0; at < samples.length; at += 2) peak = Math.max(peak, Math.abs(samples.readInt16LE(at)))
  const seconds = samples.length / 2 / known.channels / known.sampleRate
  return { ...known, seconds, peak: peak / 32_768 }
}

const LAYOUTS: Readonly<Record<string, number>> = { mono: 1, stereo: 2, '5.1': 6, '5.1(side)': 6 }

/** What ffmpeg says about its first input, whose first stream is sound. */
function described(messages: string): Omit<HeardSound, 'seconds' | 'peak'> {
  const text = messages.slice(0, messages.indexOf('Stream mapping:'))
  const [, container = ''] = /^Input #0, (\S+), from /m.exec(text) ?? []
  const [, codec = '', sampleRate, layout = '', bits] =
    /^ +Stream #0:0.*?: Audio: (\w+).*?, (\d+) Hz, ([^,]+), \w+(?: \(\d+ bit\))?(?:, (\d+) kb\/s)?/m.exec(
      text,
    ) ?? []
  const [, ofAll] = /^ +Duration: .*, bitrate: (\d+) kb\/s/m.exec(text) ?? []
  return {
    container,
    codec,
    sampleRate: Number(sampleRate),
    channels: LAYOUTS[layout] ?? Number(/^(\d+) channels$/.exec(layout)?.[1]),
    kilobits: Number(bits ?? ofAll),
    streams: [...text.matchAll(/^ +Stream #0:/gm)].length,
    // Those of the container and of its streams.
    tags: Object.fromEntries(
      [...text.matchAll(/^ {4,}(\S+) +: (.*)$/gm)].map(([, name, value]) => [name, value]),
    ),
  }
}

/** How loud it is, by EBU R128: LUFS, and the highest peak between samples in dBTP. */
export async function loudness(
  bytes: Uint8Array,
): Promise<{ integrated: number; truePeak: number } & Pick<HeardSound, 'channels' | 'sampleRate'>> {
  return withFile(bytes, async (file) => {
    const filter = ['-nostats', '-i', file, '-af', 'ebur128=peak=true', '-f', 'null', '-']
    const { stderr } = await execute('ffmpeg', ['-hide_banner', ...filter])
    const summary = stderr.slice(stderr.lastIndexOf('Summary:'))
    const [, integrated] = /I:\s+(\S+) LUFS/.exec(summary) ?? []
    const [, truePeak] = /Peak:\s+(\S+) dBFS/.exec(summary) ?? []
    const { channels, sampleRate } = described(stderr)
    return { channels, sampleRate, integrated: Number(integrated), truePeak: Number(truePeak) }
  })
}

/**
 * A tone of 440 Hz. Each second has the loudness of the next item of `levels`, from 0 to 1.
 * @param options.options further output options of ffmpeg
 */
export async function tone({
  levels,
  format = 'wav',
  options = [],
}: {
  levels: readonly number[]
  format?: string
  options?: readonly string[]
}): Promise<Buffer> {
  if (format === 'wav' && options.length === 0)
    return wavOf(levels.length, (at) => (levels[Math.floor(at)] ?? 0) * Math.sin(2 * Math.PI * 440 * at))
  const level = levels.reduceRight((rest, one, i) => `if(lt(t,${i + 1}),${one},${rest})`, '0')
  const source = `aevalsrc='${level}*sin(2*PI*440*t)':d=${levels.length}:s=44100`
  return sound({ source, format, options })
}

/** A WAV of one channel, whose samples are a function of the time in seconds, made without a program. */
export function wavOf(seconds: number, level: (at: number) => number): Buffer {
  const rate = 44_100
  const samples = Buffer.alloc(2 * rate * seconds)
  for (let i = 0; i < rate * seconds; i += 1)
    samples.writeInt16LE(Math.round(32_767 * level(i / rate)), 2 * i)
  const header = Buffer.alloc(44)
  header.write('RIFF    WAVEfmt ', 'latin1')
  header.writeUInt32LE(36 + samples.length, 4)
  // The size of this description, PCM, one channel; bytes a second, bytes and bits of a sample.
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(rate, 24)
  header.writeUInt32LE(2 * rate, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(samples.length, 40)
  return Buffer.concat([header, samples])
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
