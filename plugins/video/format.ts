import { definePlugin } from '../../src/core/plugin-api/plugin.ts'

/** The output format of a video. */
export default definePlugin({
  name: 'video-format',
  engine: 'ffmpeg',
  phase: 'encode',
  media: ['video'],
  always: true,
  params: {
    f: {
      type: 'enum',
      values: ['mp4', 'mov', 'webm', 'avi'],
      default: 'mp4',
      aliases: ['format'],
      help: 'Format: mp4 and mov are H.264 and AAC, webm VP9 and Opus, avi MPEG-4 and MP3',
    },
  },
  transform(video, { f }) {
    video.container = f
    return video
  },
})
