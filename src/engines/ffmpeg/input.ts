import type { Format } from '../../core/media/formats.ts'

// By the format's name: ffmpeg's name of what reads it, and what holds its streams, where that has another name. Each is
// forced: what a file claims to be never decides.
const READERS: Readonly<Record<string, readonly [demuxer: string, container?: string]>> = {
  mp4: ['mov'],
  m4v: ['mov', 'mp4'],
  mov: ['mov'],
  '3gp': ['mov'],
  webm: ['matroska'],
  mkv: ['matroska', 'matroska'],
  avi: ['avi'],
  mpeg: ['mpeg'],
  m2ts: ['mpegts', 'mpegts'],
  ogv: ['ogg', 'ogg'],
  flv: ['flv'],
  wmv: ['asf', 'asf'],
  mp3: ['mp3'],
  m4a: ['mov', 'mp4'],
  wav: ['wav'],
  ogg: ['ogg'],
  opus: ['ogg', 'ogg'],
  flac: ['flac'],
  aac: ['aac', 'adts'],
  aiff: ['aiff'],
  amr: ['amr'],
  '3g2': ['mov'],
  f4v: ['mov', 'mp4'],
  mp2: ['mp3'],
  m4b: ['mov', 'mp4'],
  f4a: ['mov', 'mp4'],
  f4b: ['mov', 'mp4'],
  m4p: ['mov', 'mp4'],
  mj2: ['mov', 'mp4'],
  ogm: ['ogg', 'ogg'],
  spx: ['ogg', 'ogg'],
  wma: ['asf', 'asf'],
  ac3: ['ac3'],
  ape: ['ape'],
  wv: ['wv'],
  au: ['au'],
  caf: ['caf'],
  w64: ['w64'],
  tta: ['tta'],
  dts: ['dts'],
  adx: ['adx'],
  voc: ['voc'],
}

/** The demuxer that reads a format; undefined for one that is neither video nor sound. */
export function demuxerOf({ name }: Format): string | undefined {
  return READERS[name]?.[0]
}

/** What holds the streams of a format, by its usual name: `mp4`, `matroska`. */
export function containerOf({ name }: Format): string {
  return READERS[name]?.[1] ?? name
}

/**
 * Arguments that stand before an input, of ffmpeg and ffprobe alike. A playlist named .mp4 is read as the movie that it
 * is not, and no demuxer opens another file or an address: not one that a file has inside another, either.
 */
export function guardedInput(demuxer: string, maxPixels: number): readonly string[] {
  const guard = ['-f', demuxer, '-format_whitelist', demuxer, '-protocol_whitelist', 'file']
  // Of one frame, also where the stream contradicts its header.
  return [...guard, '-max_pixels', String(maxPixels)]
}

/** A path as ffmpeg takes it: never a protocol's name or a pattern, whatever is in it. */
export function inputPath(path: string): string {
  return `file:${path}`
}
