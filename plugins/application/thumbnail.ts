import { transformedAs } from '../../src/core/media/formats.ts'
import { definePlugin } from '../../src/core/plugin-api/plugin.ts'
import { notTransformable } from '../../src/core/transform-problems.ts'

/**
 * A document as an image. Image parameters of a document do this by themselves: with this parameter, one URL shows any video, sound
 * or document.
 */
export default definePlugin({
  name: 'application-thumbnail',
  engine: 'sharp',
  phase: 'prepare',
  media: ['application'],
  params: {
    thumbnail: {
      type: 'flag',
      help: 'The page of a PDF or Office document, the cover of an EPUB or the first lines of a text as an image, by default a PNG. Accepts all image parameters too.',
    },
  },
  resolve(_, { format }) {
    if (transformedAs(format) === 'image') return undefined
    throw notTransformable(
      `expected a document that can be shown as an image but this file is ${format.name}`,
    )
  },
  transform: (image) => image,
})
