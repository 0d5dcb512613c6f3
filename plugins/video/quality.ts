import { definePlugin } from '../../src/core/plugin-api/plugin.ts'

/** A good compromise of quality and bandwidth for most screens and connections. */
export default definePlugin({
  name: 'video-quality',
  engine: 'ffmpeg',
  phase: 'encode',
  media: ['video'],
  params: {
    q_a: {
      type: 'flag',
      aliases: ['q_auto'],
      help: 'Automatic quality: smaller files, of at most 4 Mbit/s, and at most 720p unless w or h is given',
    },
  },
  transform(video) {
    video.quality = 'automatic'
    return video
  },
})
