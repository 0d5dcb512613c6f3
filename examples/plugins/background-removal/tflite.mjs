// Codes of https://github.com/tensorflow/tensorflow/blob/master/tensorflow/compiler/mlir/lite/schema/schema.fbs
const NAMES = {
  0: 'add',
  1: 'average',
  3: 'convolve',
  4: 'convolveEach',
  6: 'widen',
  14: 'sigmoid',
  18: 'multiply',
  19: 'relu',
  23: 'enlarge',
  32: 'spread',
  117: 'hardSwish',
}
const FLOAT16 = 1
const WITH_STRIDE = new Set(['convolve', 'convolveEach'])

/**
 * Reads a TensorFlow Lite file: the steps of the network, and its weights as numbers of 32 bits.
 *
 * @param {Buffer} file
 */
export function readTflite(file) {
  const model = file.readUInt32LE(0)
  const names = tables(file, model, 1).map((code) => {
    const [former, latest] = [field(file, code, 0), field(file, code, 3)]
    return NAMES[Math.max(former ? file.readInt8(former) : 0, latest ? file.readInt32LE(latest) : 0)]
  })
  const buffers = tables(file, model, 4)
  const [network] = tables(file, model, 2)
  const shapes = []
  const constants = []
  for (const tensor of tables(file, network, 0)) {
    shapes.push(integers(file, tensor, 0))
    const type = field(file, tensor, 1)
    const buffer = field(file, tensor, 2)
    const bytes = bytesOf(file, buffers[buffer ? file.readUInt32LE(buffer) : 0])
    constants.push(bytes && numbers(bytes, type ? file.readInt8(type) : 0))
  }
  const steps = []
  for (const operator of tables(file, network, 3)) {
    const code = field(file, operator, 0)
    const name = names[code ? file.readUInt32LE(code) : 0]
    const inputs = integers(file, operator, 1)
    const [output] = integers(file, operator, 2)
    const options = field(file, operator, 4)
    const stride = WITH_STRIDE.has(name) && options ? field(file, pointed(file, options), 1) : 0
    // Weights are widened here, once.
    if (name === 'widen') constants[output] = constants[inputs[0]]
    else steps.push({ name, inputs, output, stride: stride ? file.readInt32LE(stride) : 1 })
  }
  const [input] = integers(file, network, 1)
  const [output] = integers(file, network, 2)
  return { shapes, constants, steps, input, output }
}

/** The position of a field of a table, or 0. */
function field(file, table, index) {
  const offsets = table - file.readInt32LE(table)
  if (4 + 2 * index >= file.readUInt16LE(offsets)) return 0
  const offset = file.readUInt16LE(offsets + 4 + 2 * index)
  return offset && table + offset
}

function pointed(file, position) {
  return position + file.readUInt32LE(position)
}

function tables(file, table, index) {
  return each(file, table, index, (position) => pointed(file, position))
}

function integers(file, table, index) {
  return each(file, table, index, (position) => file.readInt32LE(position))
}

/** The entries of a list, of four bytes each. */
function each(file, table, index, read) {
  const position = field(file, table, index)
  if (position === 0) return []
  const list = pointed(file, position)
  return Array.from({ length: file.readUInt32LE(list) }, (_, i) => read(list + 4 + 4 * i))
}

function bytesOf(file, buffer) {
  const position = field(file, buffer, 0)
  if (position === 0) return undefined
  const start = pointed(file, position) + 4
  return file.subarray(start, start + file.readUInt32LE(start - 4))
}

function numbers(bytes, type) {
  if (type === FLOAT16)
    return Float32Array.from({ length: bytes.length / 2 }, (_, i) => half(bytes.readUInt16LE(2 * i)))
  return Float32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i))
}

/** A number of 16 bits. */
function half(bits) {
  const sign = bits & 0x80_00 ? -1 : 1
  const exponent = (bits >> 10) & 0x1f
  const fraction = (bits & 0x3_ff) / 1024
  return sign * (exponent === 0 ? fraction * 2 ** -14 : (1 + fraction) * 2 ** (exponent - 15))
}
