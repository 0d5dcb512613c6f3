import type { AudioDraft, AudioFormat } from './source.ts'

/** A format whose size follows from its bit rate. */
export type LossyFormat = Exclude<AudioFormat, 'wav' | 'flac'>

interface Rates {
  /** ffmpeg's name of the codec. */
  codec: string
  /** The containers of the codec from which it can be copied, by ffmpeg's name of the demuxer. */
  demuxers: readonly string[]
  /** The usual bit rate of stereo, in kbit/s. */
  usual: number
  /** Bit rates that the encoder accepts. The nearest one is used. Other encoders limit it themselves. */
  bounds?: { mono: readonly [number, number]; stereo: readonly [number, number] }
  /** How well the codec compresses: a higher number needs fewer bits. */
  generation: number
}

const RATES: Readonly<Record<LossyFormat, Rates>> = {
  mp3: { codec: 'mp3', demuxers: ['mp3'], usual: 128, generation: 0 },
  m4a: { codec: 'aac', demuxers: ['mov', 'matroska'], usual: 128, generation: 1 },
  ogg: {
    codec: 'vorbis',
    demuxers: ['ogg', 'matroska'],
    usual: 128,
    bounds: { mono: [32, 240], stereo: [45, 500] },
    generation: 1,
  },
  opus: {
    codec: 'opus',
    demuxers: ['ogg', 'matroska'],
    usual: 96,
    bounds: { mono: [6, 256], stereo: [6, 512] },
    generation: 2,
  },
}
// The codecs of sources that lose something: their bits say what is left.
const GENERATIONS: Readonly<Record<string, number>> = {
  ...{ mp2: 0, amr_nb: 2, amr_wb: 2, wmav2: 0 },
  ...Object.fromEntries(Object.values(RATES).map(({ codec, generation }) => [codec, generation])),
}
// For the same sound, an older codec needs more bits.
const OF_OLDER_CODEC = 1.5
// The container, and the inaccuracy of the encoders.
const MARGIN = 0.93
const LEAST_KBITS = 24
// Of MPEG-1 and MPEG-2: LAME takes the nearest one, which may be higher.
const MP3_KBITS = [24, 32, 40, 48, 56, 64, 80, 96, 112, 128]
// A stream with hardly more bits than ours would have is copied.
const COPIED_AT_MOST = 1.1

/** The bit rate of an output in kbit/s: the requested one, or the usual one, but no more than the source has. */
export function kilobitsOf(draft: AudioDraft, format: LossyFormat): number {
  const { bounds } = RATES[format]
  const { channels } = draft.input.source
  const [atLeast, atMost] = bounds?.[channels === 1 ? 'mono' : 'stereo'] ?? [0, Number.POSITIVE_INFINITY]
  return Math.max(atLeast, Math.min(atMost, draft.kilobits ?? automatic(draft, format)))
}

function automatic({ input: { source } }: AudioDraft, format: LossyFormat): number {
  const { usual, generation } = RATES[format]
  const own = GENERATIONS[source.audioCodec]
  if (own === undefined || source.bitRate === undefined) return usual
  const room = (source.bitRate / 1000) * MARGIN * (generation < own ? OF_OLDER_CODEC : 1)
  if (room >= usual) return usual
  if (format === 'mp3') return MP3_KBITS.findLast((one) => one <= room) ?? LEAST_KBITS
  return Math.max(LEAST_KBITS, Math.floor(room))
}

/** Whether the stream of the source fits as it is: in the codec of the format, without a change, and with few enough bits. */
export function isCopied(draft: AudioDraft, format: AudioFormat): boolean {
  if (format === 'wav' || format === 'flac') return false
  const { source, demuxer } = draft.input
  const { codec, demuxers, usual } = RATES[format]
  const isWhole = draft.startSeconds === undefined && draft.endSeconds === undefined
  const isUnchanged = isWhole && !draft.isNormalized && draft.kilobits === undefined && source.channels <= 2
  const bitRate = source.bitRate ?? Number.POSITIVE_INFINITY
  return (
    isUnchanged &&
    source.audioCodec === codec &&
    demuxers.includes(demuxer) &&
    bitRate <= usual * 1000 * COPIED_AT_MOST
  )
}
