import { SIDE_MAX } from '../../src/core/geometry/output-limit.ts'
import { definePlugin } from '../../src/core/plugin-api/plugin.ts'

// Small sides would be of no use in a player.
const SIDE = { type: 'integer', min: 16, max: SIDE_MAX, unit: 'px' } as const

/** Scales a video down to fit into a box. It preserves the aspect ratio, makes both sides even, and never enlarges. */
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
