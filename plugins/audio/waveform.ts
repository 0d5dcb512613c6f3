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
      help: "Peaks in place of the sound, as JSON of BBC's audiowaveform, or as a picture with f=png",
    },
    w: {
      type: 'integer',
      min: 1,
      max: 5000,
      unit: 'px',
      default: 1000,
      aliases: ['width'],
      help: 'Width of the waveform: how many peaks there are at most',
    },
    h: {
      type: 'integer',
      min: 1,
      max: 1000,
      unit: 'px',
      default: 200,
      aliases: ['height'],
      help: 'Height of the waveform as a picture',
    },
  },
  resolve(asked, { named }) {
    if (!asked.waveform) throw badParameter({ param: 'waveform', expected: 'no value or 1 beside w and h' })
    if (named.has('br')) {
      const expected = 'no br beside waveform, which is no sound,'
      throw badParameter({ param: 'waveform', expected, received: '1' })
    }
    return asked
  },
  transform(sound, { w, h }) {
    sound.waveform = { format: 'json', width: w, height: h }
    return sound
  },
})
