import { definePlugin } from '../../src/core/plugin-api/plugin.ts'
import { badParameter } from '../../src/core/problem.ts'

const STEPS_PER_SECOND = 10

/** One frame of a video as an image. The other parameters of the query apply to this image. */
export default definePlugin({
  name: 'video-thumbnail',
  engine: 'ffmpeg',
  phase: 'prepare',
  media: ['video'],
  makes: 'jpeg',
  // A page cannot use a video in place of an image.
  noOriginalFallback: true,
  params: {
    thumbnail: {
      type: 'flag',
      help: 'One frame as an image, by default a JPEG. Accepts all image parameters too.',
    },
    duration: {
      type: 'integer',
      min: 0,
      // One day.
      max: 864_000,
      unit: 'tenths of a second',
      default: 0,
      help: 'Time of the thumbnail from the start. 15 means 1.5 s.',
    },
  },
  resolve(requested) {
    if (!requested.thumbnail) throw badParameter({ param: 'thumbnail', expected: '1 with duration' })
    return requested
  },
  transform(video, { duration }, { source: { durationSeconds } }) {
    if (durationSeconds !== undefined && duration / STEPS_PER_SECOND >= durationSeconds) {
      const last = Math.max(0, Math.ceil(durationSeconds * STEPS_PER_SECOND) - 1)
      const expected = `an integer from 0 to ${last} (this video is ${rounded(durationSeconds)} s long)`
      throw badParameter({ param: 'duration', expected, received: duration })
    }
    video.frameAtSeconds = duration / STEPS_PER_SECOND
    return video
  },
})

function rounded(seconds: number): number {
  return Math.round(seconds * 1000) / 1000
}
