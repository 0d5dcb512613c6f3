import { definePlugin } from '../../src/core/plugin-api/plugin.ts'
import { badParameter } from '../../src/core/problem.ts'

// The ladder sets sizes, rates, key frames and container itself.
const LADDERS_OWN = ['w', 'h', 'q_a', 'kf', 'kf_boost', 'f']

/** HTTP Live Streaming: a video in several sizes, each in segments of 4 s. @see RFC 8216 */
export default definePlugin({
  name: 'video-hls',
  engine: 'ffmpeg',
  phase: 'encode',
  media: ['video'],
  entry: 'master.m3u8',
  // A player cannot use the original in place of a playlist.
  noOriginalFallback: true,
  params: {
    hls: {
      type: 'flag',
      help: 'HTTP Live Streaming: redirects to a playlist with up to 1080p, 720p, 480p and 360p. Can be combined with start, end, mute and vt.',
    },
  },
  resolve(requested, { named }) {
    const other = LADDERS_OWN.find((name) => named.has(name))
    if (other !== undefined)
      throw badParameter({ param: other, expected: 'no such parameter with hls', received: other })
    return requested
  },
  transform(video) {
    video.ladder = 'hls'
    return video
  },
})
