import { randomBytes } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Asset, assetFromBytes } from '../core/asset.ts'
import { mapAtOnce } from '../core/at-once.ts'
import { bundleMediaType } from '../core/bundle.ts'
import { undecodable } from './ffprobe.ts'
import { assetOfFile } from './file-asset.ts'
import { hlsArguments, ladderOf, SOUND_NAME } from './hls-arguments.ts'
import {
  AAC_CODEC,
  avcCodec,
  bitRatesOf,
  masterPlaylist,
  type Rendition,
  segmentsOf,
} from './hls-playlist.ts'
import { outcomeSeconds } from './transcode-arguments.ts'
import type { RenderContext, VideoDraft } from './video-source.ts'
import { type WriteContext, writeInto } from './write-media.ts'

// Stored at the same time: in S3 each takes a few round trips.
const AT_ONCE = 4

/**
 * Makes a video to be streamed, in one run of ffmpeg, and stores its parts: of each size a media playlist, its
 * initialization section and segments of fragmented MP4 (CMAF: one track each, all cut at the same moments).
 *
 * @returns the master playlist
 * @throws as {@link writeInto} and storing do
 * @see RFC 8216
 */
export async function streamed(draft: VideoDraft, context: RenderContext & WriteContext): Promise<Asset> {
  const { limits, canToneMap } = context
  const { audioCodec } = draft.input.source
  const ladder = ladderOf(draft)
  const mark = randomBytes(4).toString('hex')
  const nameOf = (name: string) => `${mark}-${name}`
  const hasSound = audioCodec !== undefined && draft.isMute !== true
  const target = await writeInto(
    {
      group: 'video',
      fileName: `${nameOf(ladder[0]?.name ?? '')}.m3u8`,
      seconds: outcomeSeconds(draft),
      argumentsFor: (path) =>
        hlsArguments(draft, { ladder, hasSound, folder: dirname(path), mark, limits, canToneMap }),
      undecodable: (cause) => undecodable(cause, limits.sourceMaxPixels),
    },
    context,
  )
  const folder = dirname(target)
  const codecOf = async (name: string) => avcCodec(await readFile(join(folder, `${nameOf(name)}.mp4`)))
  const pictures = []
  for (const { name, width, height } of ladder) {
    const stored = await storeRendition(folder, nameOf(name), context)
    if (stored) pictures.push({ ...stored, codec: await codecOf(name), width, height })
  }
  if (pictures.length < ladder.length) throw undecodable(new Error('no segments'), limits.sourceMaxPixels)
  const sound = hasSound ? await storeRendition(folder, nameOf(SOUND_NAME), context) : undefined
  const text = masterPlaylist({ pictures, sound: sound && { ...sound, codec: AAC_CODEC } })
  const mediaType = bundleMediaType('master.m3u8')
  return assetFromBytes(Buffer.from(text), { mediaType, lastModified: new Date() })
}

/**
 * Stores what a media playlist names, then the playlist.
 * @returns undefined, and stores nothing, when that lasts for no time: sound that has ended before the part that is wanted
 */
async function storeRendition(
  folder: string,
  name: string,
  { storePart, signal }: WriteContext,
): Promise<Omit<Rendition, 'codec'> | undefined> {
  const uri = `${name}.m3u8`
  const segments = segmentsOf(await readFile(join(folder, uri), 'utf8'))
  if (!segments.some(({ seconds }) => seconds > 0)) return undefined
  const store = async (file: string) => {
    const asset = await assetOfFile(join(folder, file), { mediaType: bundleMediaType(file) })
    await storePart(file, asset)
  }
  const files = [`${name}.mp4`, ...segments.map((segment) => segment.uri)]
  for await (const _ of mapAtOnce(files, { atOnce: AT_ONCE, signal, work: store }));
  await store(uri)
  const sized = await Promise.all(
    segments.map(async ({ seconds, uri: file }) => ({
      seconds,
      bytes: (await stat(join(folder, file))).size,
    })),
  )
  return { uri, ...bitRatesOf(sized) }
}
