// Writes plugins/image/faces/blazeface.bin from the model in a copy of the npm package @vladmandic/human:
//   npm pack @vladmandic/human@3.3.6 && tar xzf vladmandic-human-3.3.6.tgz
//   node scripts/faces/model.js package/models
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [folder] = process.argv.slice(2)
const { modelTopology, weightsManifest } = JSON.parse(readFileSync(join(folder, 'blazeface.json'), 'utf8'))
const bytes = readFileSync(join(folder, 'blazeface.bin'))

const tensors = new Map()
let at = 0
for (const { name, shape, dtype } of weightsManifest[0].weights) {
  const count = shape.reduce((product, side) => product * side, 1)
  if (dtype === 'float32')
    tensors.set(
      name,
      Array.from({ length: count }, (_, i) => bytes.readFloatLE(at + 4 * i)),
    )
  at += 4 * count
}

/** The weights of an operation, by the last but one segment of its name. */
const weightsOf = new Map()
for (const { op, name, input } of modelTopology.node) {
  if (op !== '_FusedConv2D' && op !== 'DepthwiseConv2dNative') continue
  weightsOf.set(
    name.split('/').at(-2),
    input.slice(1).map((tensor) => tensors.get(tensor)),
  )
}

const number = (name, i) => (i === 0 ? name : `${name}_${i}`)
const separable = Array.from({ length: 31 }, (_, i) => [
  ...weightsOf.get(number('depthwise_conv2d', i)),
  ...weightsOf.get(number('conv2d', i + 1)),
])
// In the order in which network.mts reads them.
const weights = [
  ...weightsOf.get('conv2d'),
  ...separable.flat(),
  ...padded(weightsOf.get('conv2d_33'), 2, 24),
  ...padded(weightsOf.get('conv2d_35'), 32, 48),
  ...weightsOf.get('depthwise_conv2d_31'),
  ...weightsOf.get('re_lu_31'),
  ...padded(weightsOf.get('conv2d_34'), 6, 24),
  ...weightsOf.get('conv2d_36'),
].flat()
const file = Buffer.alloc(2 * weights.length)
for (const [i, weight] of weights.entries()) file.writeUInt16LE(half(weight), 2 * i)
writeFileSync(join(import.meta.dirname, '..', '..', 'plugins', 'image', 'faces', 'blazeface.bin'), file)

/** Adds outputs that are zero to a matrix and its bias. */
function padded([matrix, bias], outputs, to) {
  const zeros = Array(to - outputs).fill(0)
  const rows = Array.from({ length: matrix.length / outputs }, (_, i) => [
    ...matrix.slice(i * outputs, (i + 1) * outputs),
    ...zeros,
  ])
  return [rows.flat(), [...bias, ...zeros]]
}

/** The 16 bits of the nearest number of half precision. */
function half(number) {
  const sign = number < 0 ? 0x8000 : 0
  const size = Math.abs(number)
  const exponent = Math.max(-14, Math.floor(Math.log2(size)))
  // Below the smallest exponent there is no leading one. A fraction that is rounded up to 1024 raises the exponent.
  const leading = size < 2 ** -14 ? 0 : 1
  return sign + (exponent + 14 + leading) * 1024 + Math.round((size / 2 ** exponent - leading) * 1024)
}
