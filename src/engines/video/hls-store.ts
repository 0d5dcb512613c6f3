import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import { assetFromBytes } from '../../core/bytes/asset.ts'
import { bundleMediaType, PROVISIONAL_PLAYLIST } from '../../core/files/bundle.ts'
import type { WriteContext } from '../ffmpeg/write-media.ts'
import { assetOfFile } from '../temp/file-asset.ts'
import { AUDIO_NAME, type Rung } from './hls-arguments.ts'
import {
  AAC_CODEC,
  avcCodec,
  bitRatesOf,
  masterPlaylist,
  type PictureRendition,
  type Rendition,
  type Segment,
  segmentsOf,
} from './hls-playlist.ts'
import { AUDIO_KBITS } from './streams.ts'

/** Stores the files of a ladder while ffmpeg writes them, so that the video can be played before it is complete. */
export interface HlsStore {
  /** The file name of a rendition's media playlist. @param name as in the ladder */
  playlistOf(name: string): string
  /**
   * Stores the new segments in the playlists, then these playlists, so that a playlist never lists a segment that is
   * not stored. Once each rendition has a segment, it also stores a provisional master playlist. Stored files are
   * removed from the folder, except for playlists.
   * @throws errors of the bucket, `signal.reason`
   */
  storeNew(folder: string): Promise<void>
  /**
   * The same, after ffmpeg has ended.
   * @returns the renditions for the master playlist, with measured bit rates. Renditions without duration are left
   *   out: audio that ended before the requested part
   */
  storeLast(folder: string): Promise<{ pictures: PictureRendition[]; audio: Rendition | undefined }>
}

/** The state of a rendition in progress. */
interface Track {
  /** The name of its media playlist. */
  uri: string
  /** The stored playlist; empty before it is stored. */
  text: string
  /** The name of its initialization section. */
  initialization: string
  /** The stored segments. */
  segments: Array<{ seconds: number; bytes: number }>
  /** For video it is known once the initialization section exists. */
  codec: string
  /** Maximum bits per second. */
  peak: number
}

// In S3 each store takes a few round trips.
const CONCURRENCY = 4

export function createHlsStore(
  { ladder, hasAudio, mark }: { ladder: readonly Rung[]; hasAudio: boolean; mark: string },
  { storePart, signal }: Pick<WriteContext, 'storePart' | 'signal'>,
): HlsStore {
  const playlistOf = (name: string) => `${mark}-${name}.m3u8`
  const newTrack = (name: string, peak: number): Track => ({
    uri: playlistOf(name),
    text: '',
    initialization: `${mark}-${name}.mp4`,
    segments: [],
    codec: AAC_CODEC,
    peak,
  })
  const pictures = ladder.map(({ name, width, height, peak }) => ({ ...newTrack(name, peak), width, height }))
  const audio = hasAudio ? newTrack(AUDIO_NAME, 1000 * AUDIO_KBITS) : undefined
  const tracks = [...pictures, ...(audio ? [audio] : [])]
  let isPlayable = false

  /** @returns the size in bytes */
  async function move(folder: string, name: string): Promise<number> {
    const path = join(folder, name)
    const asset = await assetOfFile(path, { mediaType: bundleMediaType(name) })
    await storePart(name, asset)
    await rm(path)
    return asset.size
  }

  function storeText(name: string, text: string): Promise<void> {
    const about = { mediaType: bundleMediaType(name), lastModified: new Date() }
    return storePart(name, assetFromBytes(Buffer.from(text), about))
  }

  async function storeTrack(folder: string, track: Track): Promise<void> {
    const { uri, initialization, segments } = track
    const text = await readFile(join(folder, uri), 'utf8').catch(unlessMissing)
    if (text === undefined || text === track.text) return
    const listed = segmentsOf(text)
    // Audio that ended before the requested part has one segment without duration.
    if (!listed.some(({ seconds }) => seconds > 0)) return
    if (segments.length === 0) {
      if (track !== audio) track.codec = avcCodec(await readFile(join(folder, initialization)))
      await move(folder, initialization)
    }
    const work = async (one: Segment) => ({ seconds: one.seconds, bytes: await move(folder, one.uri) })
    const added = mapConcurrent(listed.slice(segments.length), { concurrency: CONCURRENCY, signal, work })
    for await (const segment of added) segments.push(segment)
    await storeText(uri, text)
    track.text = text
  }

  async function storeTracks(folder: string): Promise<void> {
    for (const track of tracks) await storeTrack(folder, track)
  }

  return {
    playlistOf,

    async storeNew(folder) {
      await storeTracks(folder)
      if (isPlayable || !tracks.every(isThere)) return
      await storeText(PROVISIONAL_PLAYLIST, masterPlaylist({ pictures, audio, isProvisional: true }))
      isPlayable = true
    },

    async storeLast(folder) {
      await storeTracks(folder)
      return {
        pictures: pictures.filter(isThere).map(measured),
        audio: audio && isThere(audio) ? measured(audio) : undefined,
      }
    },
  }
}

function isThere({ text }: Track): boolean {
  return text !== ''
}

function measured<T extends Track>(track: T) {
  return { ...track, ...bitRatesOf(track.segments) }
}

/** Returns undefined for a file that does not exist yet. */
function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
