import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { OPERATIONS } from './operations.mjs'
import { readTflite } from './tflite.mjs'

let loading

/** The network, loaded once per process. After an error, the next image tries again. */
export function loadModel() {
  loading ??= load().catch((error) => {
    loading = undefined
    throw error
  })
  return loading
}

async function load() {
  const folder = dirname(
    createRequire(import.meta.url).resolve('@mediapipe/selfie_segmentation/package.json'),
  )
  const graph = readTflite(await readFile(join(folder, 'selfie_segmentation.tflite')))
  const steps = graph.steps.map((step) => {
    const operation = OPERATIONS[step.name]
    if (!operation) throw new Error(`this version of the model has an unknown operation: ${step.name}`)
    return { ...step, operation }
  })
  const [, height, width] = graph.shapes[graph.input]
  return {
    width,
    height,
    /**
     * Runs the network.
     *
     * @param {Float32Array} pixels red, green and blue of each pixel, from 0 to 1
     * @returns {Float32Array} how likely each pixel belongs to a person, from 0 to 1
     */
    run(pixels) {
      const values = [...graph.constants]
      values[graph.input] = pixels
      for (const { operation, inputs, output, stride } of steps) {
        const args = inputs.map((i) => ({ shape: graph.shapes[i], values: values[i] }))
        values[output] = operation(args, { shape: graph.shapes[output], stride })
      }
      return values[graph.output]
    },
  }
}
