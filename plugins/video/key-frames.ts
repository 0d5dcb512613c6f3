import { definePlugin } from '../../src/core/plugin-api/plugin.ts'

/** The positions where players may start, and where a video can be cut. */
export default definePlugin({
  name: 'video-key-frames',
  engine: 'ffmpeg',
  phase: 'encode',
  media: ['video'],
  params: {
    kf: {
      type: 'integer',
      min: 1,
      max: 120,
      unit: 'frames',
      aliases: ['keyframe'],
      help: 'A key frame at every so many frames',
    },
    kf_boost: {
      type: 'flag',
      help: 'A key frame every 0.5 s in the first 5 s, then every 2 s; wins over kf',
    },
  },
  resolve: ({ kf, kf_boost }) => ({ kf_boost, kf: kf_boost ? undefined : kf }),
  transform(video, { kf, kf_boost }) {
    if (kf_boost) video.keyFrames = 'boosted'
    else if (kf !== undefined) video.keyFrames = { everyFrames: kf }
    return video
  },
})
