import { createRequire } from 'node:module'
import { dirname, join, sep } from 'node:path'
import * as tf from '@tensorflow/tfjs'
import { setWasmPaths } from '@tensorflow/tfjs-backend-wasm'
import { load as loadModel } from 'nsfwjs/core'
import { MobileNetV2Model } from 'nsfwjs/models/mobilenet_v2'

/**
 * Loads the model of nsfwjs.
 *
 * @returns {Promise<(image: { pixels: Uint8Array, side: number }) => Promise<Record<string, number>>>} classifies a square image with
 *   three bytes per pixel: the probability of each class
 */
export async function load() {
  tf.enableProdMode()
  const wasm = dirname(createRequire(import.meta.url).resolve('@tensorflow/tfjs-backend-wasm/package.json'))
  setWasmPaths(join(wasm, 'wasm-out') + sep)
  await tf.setBackend('wasm')
  const model = await loadModel('MobileNetV2', { modelDefinitions: [MobileNetV2Model] })
  return async ({ pixels, side }) => {
    const image = tf.tensor3d(pixels, [side, side, 3], 'int32')
    try {
      const classes = await model.classify(image)
      return Object.fromEntries(
        classes.map(({ className, probability }) => [className.toLowerCase(), probability]),
      )
    } finally {
      image.dispose()
    }
  }
}
