import { definePlugin } from '../../src/core/plugin.ts'

/** Mirrors left and right. A new pass: sharp would do it before it cuts and turns. */
export default definePlugin({
  name: 'image-flop',
  engine: 'sharp',
  phase: 'geometry',
  newPass: true,
  params: { flop: { type: 'flag', help: 'Mirrors left and right' } },
  transform: (image) => image.flop(),
})
