import { definePlugin } from '../../src/core/plugin-api/plugin.ts'

/** A video without its sound. */
export default definePlugin({
  name: 'video-mute',
  engine: 'ffmpeg',
  phase: 'effect',
  media: ['video'],
  // What was said is not to be heard.
  noOriginalFallback: true,
  params: { mute: { type: 'flag', help: 'Removes the audio.' } },
  transform(video) {
    video.isMute = true
    return video
  },
})
