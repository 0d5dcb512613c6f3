/** The provisional part of a stream. */
export const PROVISIONAL_PLAYLIST = 'live.m3u8'

/**
 * The files of a bundle, a derivative of several files: they lie in a folder `<original>_<variant>/`. The entry is what a
 * client asks for first, and leads to the others, the parts. The derivative's key is the entry's.
 *
 * A part's name begins with a mark of the run that has made it, so that no cache ever mixes those of two runs. The `provisional`
 * one, which not every bundle has, has none: it stands in for the entry, at the entry's address, while the rest is still being
 * made.
 */
const BUNDLES: ReadonlyArray<{ entry: string; provisional?: string; part: RegExp }> = [
  {
    entry: 'master.m3u8',
    provisional: PROVISIONAL_PLAYLIST,
    part: /^[a-z0-9]{8}-(?:[a-z0-9]{1,16}\.m3u8|[a-z0-9]{1,16}\.mp4|[a-z0-9]{1,16}-[0-9]{5,7}\.m4s)$/,
  },
  { entry: 'storyboard.vtt', part: /^[a-z0-9]{8}-[a-z0-9]{1,16}\.jpg$/ },
]

/** Of which `entry` a file of this name is a part; undefined for one that no bundle has. */
export type BundleFile = { kind: 'entry' } | { kind: 'part'; entry: string }

/** What a name within a bundle's folder stands for; undefined when no bundle has such a file. */
export function bundleFile(name: string): BundleFile | undefined {
  if (isBundleEntry(name)) return { kind: 'entry' }
  const bundle = BUNDLES.find(({ part, provisional }) => name === provisional || part.test(name))
  return bundle && { kind: 'part', entry: bundle.entry }
}

/** Whether a bundle has an entry of this name. */
export function isBundleEntry(name: string): boolean {
  return BUNDLES.some(({ entry }) => entry === name)
}

/** The name of the part that stands in for this entry while the bundle is being made; undefined where none does. */
export function provisionalName(entry: string): string | undefined {
  return BUNDLES.find((one) => one.entry === entry)?.provisional
}

/** Whether a part of this name is put anew, longer each time, while its bundle is being made. */
export function isLivePlaylist(name: string): boolean {
  return name.endsWith('.m3u8')
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  // RFC 8216 section 4.
  m3u8: 'application/vnd.apple.mpegurl',
  // RFC 8216 section 3.3: an initialization section, and segments, of fragmented MP4.
  mp4: 'video/mp4',
  m4s: 'video/mp4',
  // WebVTT section 6.1.
  vtt: 'text/vtt; charset=utf-8',
  jpg: 'image/jpeg',
}

/** As sent in `Content-Type`. `name`: one for which there is a {@link bundleFile}. */
export function bundleMediaType(name: string): string {
  return MEDIA_TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
}
