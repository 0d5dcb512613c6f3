import { definePlugin } from '../../src/core/plugin-api/plugin.ts'

/** The middle of a video, upright as a telephone is held. */
export default definePlugin({
  name: 'video-vertical',
  engine: 'ffmpeg',
  phase: 'geometry',
  media: ['video'],
  // What is cut off is not to be seen.
  noOriginalFallback: true,
  params: {
    vt: { type: 'flag', aliases: ['vertical'], help: 'Crops the centre of each frame to 9:16.' },
  },
  transform(video) {
    video.aspectRatio = 9 / 16
    return video
  },
})
