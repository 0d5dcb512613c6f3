import { definePlugin } from '../../src/core/plugin-api/plugin.ts'

/** Crops a video to the middle of each frame, 9:16, for phones. */
export default definePlugin({
  name: 'video-vertical',
  engine: 'ffmpeg',
  phase: 'geometry',
  media: ['video'],
  // The original would contain the parts that were cut off.
  noOriginalFallback: true,
  params: {
    vt: { type: 'flag', aliases: ['vertical'], help: 'The middle of each frame, 9:16' },
  },
  transform(video) {
    video.aspectRatio = 9 / 16
    return video
  },
})
