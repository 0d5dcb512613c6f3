import { definePlugin } from '../../src/core/plugin-api/plugin.ts'
import { resolveTrim, TRIM_PARAMS, trim } from '../../src/core/plugin-api/trim-params.ts'

/** A part of a sound: from one moment up to another. */
export default definePlugin({
  name: 'audio-trim',
  engine: 'ffmpeg-audio',
  phase: 'prepare',
  // What is cut off is not to be heard.
  noOriginalFallback: true,
  params: TRIM_PARAMS,
  resolve: resolveTrim,
  transform: (sound, params, { source }) => trim(sound, params, { ...source, name: 'sound' }),
})
