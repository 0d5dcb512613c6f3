import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { type Asset, assetFromBytes } from '../../core/bytes/asset.ts'
import { bundleMediaType } from '../../core/files/bundle.ts'
import { undecodable } from '../ffmpeg/ffprobe.ts'
import type { RenderContext, VideoDraft } from '../ffmpeg/video-source.ts'
import { type WriteContext, writeInto } from '../ffmpeg/write-media.ts'
import { hlsArguments, ladderOf } from './hls-arguments.ts'
import { masterPlaylist } from './hls-playlist.ts'
import { createHlsStore } from './hls-store.ts'
import { outcomeSeconds } from './transcode-arguments.ts'

/**
 * Renders a video as an HLS stream, in one run of ffmpeg, and stores its parts during the run: for each size a media
 * playlist, its initialization section and segments of fragmented MP4 (CMAF: one track each, all cut at the same
 * times).
 *
 * @returns the master playlist
 * @throws errors of {@link writeInto} and of the bucket
 * @see RFC 8216
 */
export async function streamed(draft: VideoDraft, context: RenderContext & WriteContext): Promise<Asset> {
  const { limits, canToneMap } = context
  const ladder = ladderOf(draft)
  const mark = randomBytes(4).toString('hex')
  const hasAudio = draft.input.source.audioCodec !== undefined && draft.isMute !== true
  const store = createHlsStore({ ladder, hasAudio, mark }, context)
  const target = await writeInto(
    {
      group: 'video',
      fileName: store.playlistOf(ladder[0]?.name ?? ''),
      seconds: outcomeSeconds(draft),
      argumentsFor: (path) =>
        hlsArguments(draft, { ladder, hasAudio, folder: dirname(path), mark, limits, canToneMap }),
      meanwhile: (path) => store.storeNew(dirname(path)),
      undecodable: (cause) => undecodable(cause, limits.sourceMaxPixels),
    },
    context,
  )
  const { pictures, audio } = await store.storeLast(dirname(target))
  if (pictures.length < ladder.length) throw undecodable(new Error('no segments'), limits.sourceMaxPixels)
  const mediaType = bundleMediaType('master.m3u8')
  const text = masterPlaylist({ pictures, audio })
  return assetFromBytes(Buffer.from(text), { mediaType, lastModified: new Date() })
}
