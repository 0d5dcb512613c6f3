import { definePlugin } from '../../src/core/plugin-api/plugin.ts'

// A player needs something to show; the largest is that of pictures.
const SIDE = { type: 'integer', min: 16, max: 5000, unit: 'px' } as const

/** Fits a video into a box, with its shape kept, both sides even, and never enlarged. */
export default definePlugin({
  name: 'video-resize',
  engine: 'ffmpeg',
  phase: 'geometry',
  media: ['video'],
  params: {
    w: { ...SIDE, aliases: ['width'], help: 'Maximum width. Smaller videos are not enlarged.' },
    h: { ...SIDE, aliases: ['height'], help: 'Maximum height. Smaller videos are not enlarged.' },
  },
  transform(video, { w, h }) {
    if (w !== undefined) video.maxWidth = w
    if (h !== undefined) video.maxHeight = h
    return video
  },
})
