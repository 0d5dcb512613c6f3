import { definePlugin } from '../../src/core/plugin-api/plugin.ts'

/** Removes the audio of a video. */
export default definePlugin({
  name: 'video-mute',
  engine: 'ffmpeg',
  phase: 'effect',
  media: ['video'],
  // The original would contain the audio.
  noOriginalFallback: true,
  params: { mute: { type: 'flag', help: 'Without sound' } },
  transform(video) {
    video.isMute = true
    return video
  },
})
