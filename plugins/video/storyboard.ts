import { definePlugin } from '../../src/core/plugin-api/plugin.ts'
import { badParameter } from '../../src/core/problem.ts'

// Its tiles have a size and a format of their own, and no sound.
const ITS_OWN = ['w', 'h', 'q_a', 'kf', 'kf_boost', 'f', 'mute', 'hls']

/** What a player shows while somebody looks for a moment: one picture with many small ones, and which stands for when. */
export default definePlugin({
  name: 'video-storyboard',
  engine: 'ffmpeg',
  phase: 'encode',
  media: ['video'],
  entry: 'storyboard.vtt',
  // A video in the place of text would be of no use.
  noOriginalFallback: true,
  params: {
    storyboard: {
      type: 'flag',
      help: 'Previews for a seek bar: redirects to WebVTT with one sprite of up to 100 tiles. Can be combined with start, end and vt.',
    },
  },
  resolve(asked, { named }) {
    const other = ITS_OWN.find((name) => named.has(name))
    if (other !== undefined) throw badParameter({ param: other, expected: 'no value with storyboard' })
    return asked
  },
  transform(video) {
    video.isStoryboard = true
    return video
  },
})
