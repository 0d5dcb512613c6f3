// Most structures of a file are near its start.
const START_BYTES = 256

/**
 * Returns copies of the files with up to eight changed bytes, half of them near the start, and every fourth of the copies
 * truncated: the same in each run.
 *
 * @param options.spared bytes at the start that stay, so that the type of the file stays
 */
export function* mutated(
  files: readonly Buffer[],
  { count, spared }: { count: number; spared: number },
): Generator<Buffer> {
  const random = randomFrom(20)
  for (let i = 0; i < count; i += 1) {
    const bytes = Buffer.from(files[i % files.length] as Buffer)
    const changes = 1 + random(8)
    for (let change = 0; change < changes; change += 1)
      bytes[spared + random(Math.min(random(2) ? START_BYTES : bytes.length, bytes.length - spared))] =
        random(256)
    yield random(4) === 0 ? bytes.subarray(0, spared + random(bytes.length - spared)) : bytes
  }
}

/** Integers below a bound, the same in each run. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
