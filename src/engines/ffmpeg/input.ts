import type { Format } from '../../core/media/formats.ts'

// By the format's name: ffmpeg's demuxer, and the container's name where it differs. The demuxer is always forced, so
// that the content of a file never decides.
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

/** The demuxer that reads a format; undefined for a format that is neither video nor audio. */
export function demuxerOf({ name }: Format): string | undefined {
  return READERS[name]?.[0]
}

/** The container of a format by its usual name: `mp4`, `matroska`. */
export function containerOf({ name }: Format): string {
  return READERS[name]?.[1] ?? name
}

/**
 * Arguments that precede an input, for ffmpeg and ffprobe. They force the demuxer, so that a playlist named .mp4 is
 * read as a video and fails. No demuxer can open another file or a URL, not even from within another file.
 */
export function guardedInput(demuxer: string, maxPixels: number): readonly string[] {
  const guard = ['-f', demuxer, '-format_whitelist', demuxer, '-protocol_whitelist', 'file']
  // Pixels of one frame, also when the stream contradicts its header.
  return [...guard, '-max_pixels', String(maxPixels)]
}

/** Returns a path for ffmpeg's command line. The prefix prevents its use as a protocol or pattern. */
export function inputPath(path: string): string {
  return `file:${path}`
}
