/** The playlist of an HLS stream that is still being transcoded. */
export const PROVISIONAL_PLAYLIST = 'live.m3u8'

/**
 * The files of a bundle, a derivative of several files, in a folder `<original>_<variant>/`. The entry is the file
 * that a client requests first. It links to the others, the parts. The derivative's key is the entry's.
 *
 * A part's name begins with a mark of the run that created it, so that no cache mixes the parts of two runs. Some
 * bundles have a `provisional` part, without this mark. It is served at the entry's URL while the rest is still in
 * progress.
 */
const BUNDLES: ReadonlyArray<{ entry: string; provisional?: string; part: RegExp }> = [
  {
    entry: 'master.m3u8',
    provisional: PROVISIONAL_PLAYLIST,
    part: /^[a-z0-9]{8}-(?:[a-z0-9]{1,16}\.m3u8|[a-z0-9]{1,16}\.mp4|[a-z0-9]{1,16}-[0-9]{5,7}\.m4s)$/,
  },
  { entry: 'storyboard.vtt', part: /^[a-z0-9]{8}-[a-z0-9]{1,16}\.jpg$/ },
]

/** An entry, or a part of the bundle with this entry. */
export type BundleFile = { kind: 'entry' } | { kind: 'part'; entry: string }

/** Returns the kind of a file by its name in a bundle's folder; undefined when no bundle has such a file. */
export function bundleFile(name: string): BundleFile | undefined {
  if (isBundleEntry(name)) return { kind: 'entry' }
  const bundle = BUNDLES.find(({ part, provisional }) => name === provisional || part.test(name))
  return bundle && { kind: 'part', entry: bundle.entry }
}

/** Whether a bundle has an entry of this name. */
export function isBundleEntry(name: string): boolean {
  return BUNDLES.some(({ entry }) => entry === name)
}

/**
 * The name of the part that replaces this entry while the bundle is in progress; undefined when the bundle has no
 * such part.
 */
export function provisionalName(entry: string): string | undefined {
  return BUNDLES.find((one) => one.entry === entry)?.provisional
}

/** Whether a part of this name is stored repeatedly, longer each time, while its bundle is in progress. */
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

/** The value of `Content-Type`. @param name a name for which {@link bundleFile} returns a result */
export function bundleMediaType(name: string): string {
  return MEDIA_TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
}
