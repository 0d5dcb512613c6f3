import sharp, { type Sharp } from 'sharp'

/** What sharp keeps of the files that a draft is made from. */
interface Input {
  buffer?: unknown
}
interface WithInputs {
  options: { input: Input; composite?: Array<{ input: Input }> }
}

const deepClone: (this: Sharp) => Sharp = sharp.prototype.clone

/**
 * Sharp's own clone copies the bytes that it is to read, in this thread: for a frame of an animation all the memory that
 * it is a part of, 200 MB for each of 4,000. Nobody writes to them, so clones share them.
 */
function clone(this: Sharp & WithInputs): Sharp {
  const inputs = inputsOf(this)
  const shared = inputs.map(({ buffer }) => (buffer instanceof Uint8Array ? buffer : undefined))
  const give = (to: readonly Input[]) => {
    for (const [i, input] of to.entries()) if (shared[i]) input.buffer = shared[i]
  }
  for (const [i, input] of inputs.entries()) if (shared[i]) input.buffer = undefined
  try {
    const copy = deepClone.call(this) as Sharp & WithInputs
    give(inputsOf(copy))
    return copy
  } finally {
    give(inputs)
  }
}

function inputsOf({ options: { input, composite = [] } }: WithInputs): Input[] {
  return [input, ...composite.map((layer) => layer.input)]
}

/** From now on, for every draft in this process. */
export function shareBytesOfClones(): void {
  sharp.prototype.clone = clone
}
