import { randomBytes } from 'node:crypto'
import { type Asset, assetFromBytes } from '../../core/bytes/asset.ts'
import { bundleMediaType } from '../../core/files/bundle.ts'
import { undecodable } from '../ffmpeg/ffprobe.ts'
import type { RenderContext, VideoDraft } from '../ffmpeg/video-source.ts'
import { type WriteContext, writeInto } from '../ffmpeg/write-media.ts'
import { runningOf } from '../programs/run.ts'
import { assetOfFile } from '../temp/file-asset.ts'
import { pictureTimes } from './frame-times.ts'
import { type Board, boardOf, storyboardArguments } from './storyboard-arguments.ts'
import { outcomeSeconds } from './transcode-arguments.ts'

/**
 * Renders the previews that a player shows during a seek: small images of a video, all in one JPEG (a sprite), in one
 * run of ffmpeg. Stores the sprite as a part.
 *
 * @returns WebVTT that maps times to tiles of the sprite
 * @throws errors of {@link pictureTimes}, {@link writeInto} and the bucket
 * @see https://www.w3.org/TR/webvtt1/ section 4.5, https://www.w3.org/TR/media-frags/ section 4.2.2
 */
export async function storyboard(draft: VideoDraft, context: RenderContext & WriteContext): Promise<Asset> {
  const { limits, canToneMap, signal, env, spent } = context
  const maxPixels = limits.sourceMaxPixels
  const times = await pictureTimes(draft.input, { ...runningOf(limits, { signal, env, spent }), maxPixels })
  const board = boardOf(draft, times)
  const fileName = `${randomBytes(4).toString('hex')}-sprite.jpg`
  const target = await writeInto(
    {
      group: 'video',
      fileName,
      seconds: outcomeSeconds(draft),
      argumentsFor: (path) => storyboardArguments(draft, { board, target: path, limits, canToneMap }),
      undecodable: (cause) => undecodable(cause, maxPixels),
    },
    context,
  )
  const mediaType = bundleMediaType(fileName)
  await context.storePart(fileName, await assetOfFile(target, { mediaType }))
  const text = cuesOf(board, fileName)
  return assetFromBytes(Buffer.from(text), {
    mediaType: bundleMediaType('storyboard.vtt'),
    lastModified: new Date(),
  })
}

/** One cue per tile, each from the end of the previous one. The text is the place of the tile, as a media fragment. */
function cuesOf({ count, intervalSeconds, untilSeconds, tile, columns }: Board, sprite: string): string {
  const cues = Array.from({ length: count }, (_, i) => {
    const until = i === count - 1 ? untilSeconds : (i + 1) * intervalSeconds
    const [x, y] = [(i % columns) * tile.width, Math.floor(i / columns) * tile.height]
    const place = `${sprite}#xywh=${x},${y},${tile.width},${tile.height}`
    return `${timestamp(i * intervalSeconds)} --> ${timestamp(until)}\n${place}\n`
  })
  return ['WEBVTT\n', ...cues].join('\n')
}

/** `01:02:03.456`; hours have at least two digits. @see https://www.w3.org/TR/webvtt1/#webvtt-timestamp */
function timestamp(seconds: number): string {
  const all = Math.round(seconds * 1000)
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  const [hours, minutes] = [all / 3_600_000, (all / 60_000) % 60]
  return `${two(hours)}:${two(minutes)}:${two((all / 1000) % 60)}.${String(all % 1000).padStart(3, '0')}`
}
