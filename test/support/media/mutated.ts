/**
 * Returns files with up to eight changed bytes, a quarter of them also cut: the same ones in each run.
 *
 * @param options.headBytes the bytes that stay, so that the type of the file does
 */
export function mutated(
  files: readonly Buffer[],
  { count, headBytes, seed }: { count: number; headBytes: number; seed: number },
): Buffer[] {
  const random = randomFrom(seed)
  return Array.from({ length: count }, (_, i) => {
    const bytes = Buffer.from(files[i % files.length] as Buffer)
    const place = () => headBytes + random(bytes.length - headBytes)
    for (let changes = 1 + random(8); changes > 0; changes -= 1) bytes[place()] = random(256)
    return random(4) === 0 ? bytes.subarray(0, place()) : bytes
  })
}

/** Integers below a bound, the same in each run. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
