import { definePlugin } from '../../src/core/plugin-api/plugin.ts'
import { badParameter } from '../../src/core/problem.ts'

// Its tiles have a fixed size and format, and no audio.
const ITS_OWN = ['w', 'h', 'q_a', 'kf', 'kf_boost', 'f', 'mute', 'hls']

/** Previews for the seek bar of a player: one image with many small ones, and a list of their times. */
export default definePlugin({
  name: 'video-storyboard',
  engine: 'ffmpeg',
  phase: 'encode',
  media: ['video'],
  entry: 'storyboard.vtt',
  // A player cannot use the original in place of the list.
  noOriginalFallback: true,
  params: {
    storyboard: {
      type: 'flag',
      help: 'Previews for a seek bar: redirects to WebVTT with one sprite of up to 100 tiles. Can be combined with start, end and vt.',
    },
  },
  resolve(requested, { named }) {
    const other = ITS_OWN.find((name) => named.has(name))
    if (other !== undefined)
      throw badParameter({ param: other, expected: 'no such parameter with storyboard', received: other })
    return requested
  },
  transform(video) {
    video.isStoryboard = true
    return video
  },
})
