import { isOffice } from '../../src/core/media/formats.ts'
import { definePlugin } from '../../src/core/plugin-api/plugin.ts'
import { notTransformable } from '../../src/core/transform-problems.ts'

/** An Office document as a PDF. Its pages are drawn from that. */
export default definePlugin({
  name: 'application-pdf',
  engine: 'office',
  phase: 'prepare',
  makes: 'pdf',
  params: {
    pdf: {
      type: 'flag',
      help: 'The PDF of an Office document. Needs LibreOffice on the server.',
    },
  },
  resolve(params, { format }) {
    if (format.name === 'pdf') return 'original'
    if (isOffice(format)) return params
    throw notTransformable(`expected an Office document for pdf but this file is ${format.name}`)
  },
  transform: (document) => document,
})
