/** A segment of a media playlist. */
export interface Segment {
  seconds: number
  uri: string
}

/** Parses the segments of a media playlist that ffmpeg has written. @see RFC 8216 section 4.3.2.1 */
export function segmentsOf(playlist: string): Segment[] {
  const segments: Segment[] = []
  let seconds: number | undefined
  for (const line of playlist.split(/\r?\n/)) {
    const [, duration] = /^#EXTINF:([\d.]+),/.exec(line) ?? []
    if (duration !== undefined) seconds = Number(duration)
    else if (line !== '' && !line.startsWith('#') && seconds !== undefined) {
      segments.push({ seconds, uri: line })
      seconds = undefined
    }
  }
  return segments
}

/** Bit rates of a media playlist, in bits per second. */
export interface BitRates {
  /** The peak over contiguous segments that together last about as long as the longest segment. */
  peak: number
  /** Undefined while unknown. */
  average?: number
}

/**
 * @param segments of one media playlist, at least one, with their sizes in bytes
 * @see RFC 8216 section 4.1: the peak is over contiguous segments of 0.5 to 1.5 target durations in all
 */
export function bitRatesOf(segments: ReadonlyArray<{ seconds: number; bytes: number }>): Required<BitRates> {
  const target = segments.reduce((longest, { seconds }) => Math.max(longest, seconds), 0)
  const whole = { seconds: 0, bits: 0 }
  let peak = 0
  for (const [i, first] of segments.entries()) {
    whole.seconds += first.seconds
    whole.bits += 8 * first.bytes
    let [seconds, bits] = [0, 0]
    for (let next = i; next < segments.length; next += 1) {
      const segment = segments[next] ?? first
      seconds += segment.seconds
      bits += 8 * segment.bytes
      if (seconds > 1.5 * target) break
      if (seconds >= 0.5 * target) peak = Math.max(peak, bits / seconds)
    }
  }
  return { peak: Math.ceil(peak), average: Math.ceil(whole.bits / whole.seconds) }
}

/** A media playlist, as described in the master playlist. */
export interface Rendition extends BitRates {
  uri: string
  /** The codec by RFC 6381: `avc1.64001f`. */
  codec: string
}

/** A video rendition, with its sides in pixels. */
export interface PictureRendition extends Rendition {
  width: number
  height: number
}

/**
 * Creates a master playlist: the same video in several sizes, each with the same audio, if any.
 *
 * @param options.pictures the first is the one with which players start
 * @param options.isProvisional the media playlists still grow. The playlist then requests a start at the beginning, because
 *   players start near the current end by default
 * @see RFC 8216 sections 4.3.4 and 4.3.5.2
 */
export function masterPlaylist({
  pictures,
  audio,
  isProvisional = false,
}: {
  pictures: readonly PictureRendition[]
  audio: Rendition | undefined
  isProvisional?: boolean
}): string {
  const group = 'AUDIO="sound"'
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    '#EXT-X-INDEPENDENT-SEGMENTS',
    ...(isProvisional ? ['#EXT-X-START:TIME-OFFSET=0'] : []),
    ...(audio
      ? [
          `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="sound",NAME="sound",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="${audio.uri}"`,
        ]
      : []),
    ...pictures.flatMap(({ uri, width, height, codec, peak, average }) => [
      `#EXT-X-STREAM-INF:${[
        `BANDWIDTH=${peak + (audio?.peak ?? 0)}`,
        ...(average === undefined ? [] : [`AVERAGE-BANDWIDTH=${average + (audio?.average ?? 0)}`]),
        `RESOLUTION=${width}x${height}`,
        `CODECS="${[codec, ...(audio ? [audio.codec] : [])].join()}"`,
        ...(audio ? [group] : []),
      ].join()}`,
      uri,
    ]),
  ]
  return `${lines.join('\n')}\n`
}

/**
 * Returns the codec string of an H.264 stream, from the initialization section of its file.
 *
 * @throws Error when the section has no avcC box
 * @see RFC 6381 section 3.3; ISO/IEC 14496-15 section 5.3.3.1 (the record begins with a version, then these three
 *   bytes)
 */
export function avcCodec(initialization: Buffer): string {
  const at = initialization.indexOf('avcC')
  if (at === -1) throw new Error('expected an avcC box in an initialization section but found none')
  return `avc1.${initialization.subarray(at + 5, at + 8).toString('hex')}`
}

/** AAC of low complexity, as ffmpeg's own encoder writes it. @see RFC 6381 section 3.3 */
export const AAC_CODEC = 'mp4a.40.2'
