import { definePlugin } from '../../src/core/plugin-api/plugin.ts'

/** Normalizes to the loudness of podcasts and streamed music, by EBU R128. */
export default definePlugin({
  name: 'audio-loudness',
  engine: 'ffmpeg-audio',
  phase: 'effect',
  params: {
    loudnorm: { type: 'flag', help: 'As loud as podcasts are: -16 LUFS, with peaks below -1.5 dBTP' },
  },
  transform(sound) {
    sound.isNormalized = true
    return sound
  },
})
