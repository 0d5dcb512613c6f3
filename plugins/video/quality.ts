import { definePlugin } from '../../src/core/plugin-api/plugin.ts'

/** What looks well on most screens and streams well over most connections. */
export default definePlugin({
  name: 'video-quality',
  engine: 'ffmpeg',
  phase: 'encode',
  media: ['video'],
  params: {
    q_a: {
      type: 'flag',
      aliases: ['q_auto'],
      help: 'Automatic quality: smaller files with at most 4 Mbit/s, and at most 720p unless w or h is set.',
    },
  },
  transform(video) {
    video.quality = 'automatic'
    return video
  },
})
