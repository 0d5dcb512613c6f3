import { definePlugin } from '../../src/core/plugin-api/plugin.ts'

// Small sides would be of no use in a player. The maximum is that of images.
const SIDE = { type: 'integer', min: 16, max: 5000, unit: 'px' } as const

/** Scales a video down to fit into a box. It preserves the aspect ratio, makes both sides even, and never enlarges. */
export default definePlugin({
  name: 'video-resize',
  engine: 'ffmpeg',
  phase: 'geometry',
  media: ['video'],
  params: {
    w: { ...SIDE, aliases: ['width'], help: 'Width at most; smaller videos stay as they are' },
    h: { ...SIDE, aliases: ['height'], help: 'Height at most' },
  },
  transform(video, { w, h }) {
    if (w !== undefined) video.maxWidth = w
    if (h !== undefined) video.maxHeight = h
    return video
  },
})
