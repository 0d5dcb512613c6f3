import { definePlugin } from '../../src/core/plugin-api/plugin.ts'

/** The cover in an audio file as an image. The other parameters of the query apply to this image. */
export default definePlugin({
  name: 'audio-cover',
  engine: 'ffmpeg',
  phase: 'prepare',
  media: ['audio'],
  makes: 'jpeg',
  // A page cannot use a sound in place of an image.
  noOriginalFallback: true,
  params: {
    thumbnail: {
      type: 'flag',
      help: 'The cover in the file as an image, by default a JPEG. Accepts all image parameters too.',
    },
  },
  transform(cover) {
    cover.frameAtSeconds = 0
    return cover
  },
})
