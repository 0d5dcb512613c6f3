import { SIDE_MAX } from '../../src/core/geometry/output-limit.ts'
import { definePlugin } from '../../src/core/plugin-api/plugin.ts'
import { badParameter } from '../../src/core/problem.ts'

/** A waveform for players: JSON, or an image with `f=png`. */
export default definePlugin({
  name: 'audio-waveform',
  engine: 'ffmpeg-audio',
  phase: 'compose',
  params: {
    waveform: {
      type: 'flag',
      help: "Waveform instead of audio: peaks as JSON in the format of BBC's audiowaveform, or an image with f=png.",
    },
    w: {
      type: 'integer',
      min: 1,
      max: SIDE_MAX,
      unit: 'px',
      default: 1000,
      aliases: ['width'],
      help: 'Width of the waveform: the maximum number of peaks.',
    },
    h: {
      type: 'integer',
      min: 1,
      max: 1000,
      unit: 'px',
      default: 200,
      aliases: ['height'],
      help: 'Height of the waveform image.',
    },
  },
  resolve(requested, { named }) {
    if (!requested.waveform) throw badParameter({ param: 'waveform', expected: '1 with w or h' })
    if (named.has('br')) {
      const expected = 'no such parameter with waveform'
      throw badParameter({ param: 'br', expected, received: 'br' })
    }
    return requested
  },
  transform(sound, { w, h }) {
    sound.waveform = { format: 'json', width: w, height: h }
    return sound
  },
})
