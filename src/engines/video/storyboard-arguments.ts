import type { TransformLimits } from '../../core/plugin-api/limits.ts'
import type { VideoDraft } from '../ffmpeg/video-source.ts'
import type { PictureTimes } from './frame-times.ts'
import { filters, outcomeSize, type Size, sourceArguments } from './transcode-arguments.ts'

/** The layout of a sprite: the times of its tiles, and their places. */
export interface Board {
  /** From 1 to 100: tile i shows the frame at `i * intervalSeconds`. */
  count: number
  intervalSeconds: number
  /** The end of the last tile's time: the end of the video, audio included. */
  untilSeconds: number
  tile: Size
  columns: number
  /** Whether the tiles are key frames: each is the first key frame in its interval. */
  ofKeyFrames: boolean
}

const MAX_COLUMNS = 10
const MAX_TILES = 100
// The longer side of each tile, in pixels: the size of previews in players.
const TILE_SIDE = 160
// In seconds. Longer videos have intervals of whole hours.
const INTERVALS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800]
const HOUR_SECONDS = 3600
// Key frames decode thirty times as fast as all frames. Each must be in its own interval, and in the first half of a
// short one, so that its delay is not visible.
const SHORT_SECONDS = 10
const HALF = 0.5
// Less than one frame. In many files the video begins this much after the audio, from which all times are counted.
const LATE_SECONDS = 0.025
// From 1, hardly distinguishable from the original, to 31.
const JPEG_QUALITY = '4'

/** The layout for a draft: one tile per second, or per as many seconds as are needed for at most 100 tiles. */
export function boardOf(
  draft: VideoDraft,
  { untilSeconds, headerSeconds = 0, keyFramesApartSeconds }: PictureTimes,
): Board {
  const { startSeconds = 0, endSeconds = Number.POSITIVE_INFINITY } = draft
  const from = (seconds: number) => milliseconds(Math.min(seconds, endSeconds) - startSeconds)
  const shownSeconds = from(untilSeconds)
  const intervalSeconds =
    INTERVALS.find((seconds) => seconds * MAX_TILES >= shownSeconds) ??
    HOUR_SECONDS * Math.ceil(shownSeconds / HOUR_SECONDS / MAX_TILES)
  const count = Math.max(1, Math.ceil((shownSeconds - LATE_SECONDS) / intervalSeconds))
  return {
    count,
    intervalSeconds,
    tile: outcomeSize(tiled(draft)),
    columns: Math.min(count, MAX_COLUMNS),
    untilSeconds: Math.max(shownSeconds, from(headerSeconds)),
    ofKeyFrames:
      milliseconds(keyFramesApartSeconds) <= intervalSeconds * (intervalSeconds < SHORT_SECONDS ? HALF : 1),
  }
}

/** The arguments with which ffmpeg draws all tiles into the file `target`, from left to right, then top to bottom. */
export function storyboardArguments(
  draft: VideoDraft,
  {
    board: { count, intervalSeconds, tile, columns, ofKeyFrames },
    target,
    limits,
    canToneMap,
  }: { board: Board; target: string; limits: TransformLimits; canToneMap: boolean },
): string[] {
  const rows = Math.ceil(count / columns)
  const pictures = `0:${draft.input.source.stream}`
  const cue = (time: string) => `floor(${time}/${intervalSeconds})`
  const moments = ofKeyFrames
    ? [
        `select='isnan(prev_selected_t)+gt(${cue('t')},${cue('prev_selected_t')})'`,
        `fps=fps=1/${intervalSeconds}:round=down:eof_action=pass:start_time=0`,
      ]
    : // The frame on display at this time: the last one that has begun.
      [`settb=AVTB,setpts=PTS-${LATE_SECONDS}/TB`, `fps=fps=1/${intervalSeconds}:round=up:start_time=0`]
  const graph = [
    ...moments,
    ...filters(tiled(draft), canToneMap),
    // When the last frames cannot be decoded, the one before is repeated, as in a player.
    `tpad=stop=${count}:stop_mode=clone,trim=end_frame=${count}`,
    `tile=${columns}x${rows}`,
  ]
  // ffmpeg reports no progress before each of its outputs has begun, and the tiles are one image at the very end. So
  // an empty image is written before it.
  const empty = `color=s=${columns * tile.width}x${rows * tile.height}:r=1:d=1,format=yuv420p`
  // The colours of a JPEG.
  const inJpeg =
    'scale=in_color_matrix=bt709:in_range=tv:out_color_matrix=bt601:out_range=full,format=yuvj420p'
  const sprite = `${empty}[empty];[${pictures}]${graph.join(',')}[tiles];[empty][tiles]concat,setpts=N/TB,${inJpeg}[sprite]`
  return [
    ...(ofKeyFrames ? ['-skip_frame', 'nokey'] : []),
    ...sourceArguments(draft, limits),
    // The decoded frames, from which ffmpeg counts its progress.
    ...['-map', pictures, '-an', '-vsync', 'passthrough', '-f', 'null', '-'],
    ...['-filter_complex', sprite, '-map', '[sprite]'],
    ...['-c:v', 'mjpeg', '-q:v', JPEG_QUALITY, '-f', 'image2', '-update', '1', '-y', target],
  ]
}

function tiled(draft: VideoDraft): VideoDraft {
  return { ...draft, maxWidth: TILE_SIDE, maxHeight: TILE_SIDE }
}

/** Rounds to milliseconds. Never negative. */
function milliseconds(seconds: number): number {
  return Math.max(0, Math.round(seconds * 1000) / 1000)
}
