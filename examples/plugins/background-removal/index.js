import { refined } from './edges.mjs'
import { loadModel } from './model.mjs'

// The model, its layers, and the opacities of an output of four megapixels.
const MEMORY_BYTES = 120_000_000

// A pixel is shown when the model is at least this sure that it is of a person, and fully when it is as sure as that.
const UNSURE = 0.1
const SURE = 0.9

/** Below this share of an image, a person is a mistake of the model: a poster, a hand at the edge. */
const LEAST_SHARE = 0.005

/**
 * Removes the background of people. The model, of @mediapipe/selfie_segmentation, is loaded for the first image that needs it.
 *
 * @type {import('sluice/plugin').TransformPlugin<any, 'sharp'>}
 */
export default {
  name: 'background-removal',
  engine: 'sharp',
  // After a resize: the output has fewer pixels than the original.
  phase: 'effect',
  newPass: true,
  transparent: true,
  memoryBytes: MEMORY_BYTES,
  noOriginalFallback: true,
  params: {
    remove_background: { type: 'flag', aliases: ['rm_bg'], help: 'Makes all but people transparent.' },
  },
  holds: () => 'outcome',
  // A smaller copy of a large source gives the same output.
  needs: () => 'outcome',
  async transform(image, _params, { settle, signal, refuse }) {
    const model = await loadModel()
    const settled = await settle(image, async (frame) => {
      signal.throwIfAborted()
      const { width, height } = model
      const input = frame.clone().resize(width, height, { fit: 'fill' })
      const { data: pixels } = await plain(input)
      const likely = model.run(Float32Array.from(pixels, (value) => value / 255))
      const share = likely.filter((value) => value > 0.5).length / likely.length
      if (share < LEAST_SHARE)
        refuse('No person was found in this image, so its background cannot be removed.')
      const { data, info } = await plain(frame.clone())
      const shown = refined({ likely, guide: pixels, width, height }, data, info)
      return frame.composite([{ input: mask(shown), raw: { ...size(info), channels: 4 }, blend: 'dest-in' }])
    })
    return { ...settled, source: { ...settled.source, hasAlpha: true } }
  },
}

/** The three colours of each pixel. */
function plain(frame) {
  return frame
    .flatten({ background: '#fff' })
    .toColourspace('srgb')
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
}

function size({ width, height }) {
  return { width, height }
}

/** Black pixels with these opacities. */
function mask(shown) {
  const pixels = Buffer.alloc(4 * shown.length)
  for (let i = 0; i < shown.length; i += 1)
    pixels[4 * i + 3] = Math.round(
      (255 * Math.min(SURE - UNSURE, Math.max(0, shown[i] - UNSURE))) / (SURE - UNSURE),
    )
  return pixels
}
