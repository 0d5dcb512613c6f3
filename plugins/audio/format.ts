import { definePlugin } from '../../src/core/plugin-api/plugin.ts'
import { badParameter } from '../../src/core/problem.ts'

const AUDIO_FORMATS = ['mp3', 'm4a', 'ogg', 'opus', 'wav', 'flac'] as const
const WAVEFORMS = ['json', 'png'] as const
const LOSSLESS: readonly string[] = ['wav', 'flac']

/** The output format and bit rate of audio, or the format of a waveform. */
export default definePlugin({
  name: 'audio-format',
  engine: 'ffmpeg-audio',
  phase: 'encode',
  always: true,
  params: {
    f: {
      type: 'enum',
      values: [...AUDIO_FORMATS, ...WAVEFORMS],
      aliases: ['format'],
      help: 'Output format. m4a is AAC, ogg is Vorbis. Default: mp3. For a waveform: json (default) or png.',
    },
    br: {
      type: 'integer',
      min: 16,
      max: 320,
      unit: 'kbit/s',
      aliases: ['bitrate'],
      help: 'Bit rate, rounded to the nearest one of the format. Default: 128, or 96 for opus, but no more than the file has.',
    },
  },
  resolve({ f, br }, { named }) {
    const ofWaveform = named.has('waveform')
    const values: readonly string[] = ofWaveform ? WAVEFORMS : AUDIO_FORMATS
    const [usual = ''] = values
    const format = f ?? usual
    if (!values.includes(format)) {
      const expected = `one of ${values.join(', ')} ${ofWaveform ? 'with' : 'without'} waveform`
      throw badParameter({ param: 'f', expected, received: f })
    }
    if (br !== undefined && LOSSLESS.includes(format)) {
      const expected = `no br with f=${format} (lossless)`
      throw badParameter({ param: 'br', expected, received: br })
    }
    return { f: format === usual ? undefined : f, br }
  },
  transform(sound, { f, br }) {
    if (sound.waveform) {
      sound.waveform = { ...sound.waveform, format: f === 'png' ? 'png' : 'json' }
      return sound
    }
    sound.format = AUDIO_FORMATS.find((format) => format === f) ?? 'mp3'
    if (br !== undefined) sound.kilobits = br
    return sound
  },
})
