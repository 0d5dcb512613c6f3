import { definePlugin } from '../../src/core/plugin.ts'
import { badParameter } from '../../src/core/problem.ts'

// A day.
const MAX_SECONDS = 86_400

/** A part of a sound: from one moment up to another. */
export default definePlugin({
  name: 'audio-trim',
  engine: 'ffmpeg-audio',
  phase: 'prepare',
  // What is cut off is not to be heard.
  conceals: true,
  params: {
    start: {
      type: 'number',
      min: 0,
      max: MAX_SECONDS,
      unit: 'seconds',
      default: 0,
      help: 'Where it begins, from the start',
    },
    end: {
      type: 'number',
      min: 0.1,
      max: MAX_SECONDS,
      unit: 'seconds',
      help: 'Where it ends, from the start; past the end it is the end',
    },
  },
  resolve(asked) {
    const { start, end } = asked
    if (end !== undefined && end <= start)
      throw badParameter({ param: 'end', expected: `a moment past start, ${start} s,`, received: end })
    return start === 0 && end === undefined ? undefined : asked
  },
  transform(sound, { start, end }, { source: { durationSeconds } }) {
    if (durationSeconds !== undefined && start >= durationSeconds) {
      const long = Math.round(durationSeconds * 1000) / 1000
      const expected = `a number below ${long}, as this sound is ${long} s long,`
      throw badParameter({ param: 'start', expected, received: start })
    }
    if (start > 0) sound.startSeconds = start
    if (end !== undefined) sound.endSeconds = end
    return sound
  },
})
