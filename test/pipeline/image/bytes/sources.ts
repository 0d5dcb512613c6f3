import sharp, { type Sharp } from 'sharp'

/** Pixels from a function of the place, of 3 or 4 channels. */
export function drawn(
  { width, height }: { width: number; height: number },
  colour: (x: number, y: number) => readonly number[],
): Sharp {
  const channels = colour(0, 0).length as 3 | 4
  const data = Buffer.alloc(width * height * channels)
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) data.set(colour(x, y), (y * width + x) * channels)
  return sharp(data, { raw: { width, height, channels } })
}

/** The same numbers from 0 to 1 at every run. */
export function numbers(seed: number): () => number {
  let state = seed
  return () => {
    // The constants of Numerical Recipes.
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}

/** What a camera sees: smooth areas with soft edges, and some noise. */
export function photo({ width = 240, height = 160, seed = 1 } = {}): Sharp {
  const next = numbers(seed)
  return drawn({ width, height }, (x, y) => {
    const wave = Math.sin(x / 17) * Math.cos(y / 11) * 60
    const noise = (next() - 0.5) * 24
    return [128 + wave + noise, 110 + (y * 80) / height + noise, 90 - wave / 2 + noise]
  })
}

/** Bars with sharp edges, of few colours. */
export function chart({ width = 240, height = 160 } = {}): Sharp {
  const colours = [
    [230, 25, 75],
    [60, 180, 75],
    [67, 99, 216],
    [245, 130, 49],
  ]
  return drawn({ width, height }, (x, y) => {
    const bar = Math.floor(x / 30)
    const isBar = x % 30 > 8 && y > ((bar * 37) % 90) + 30
    return isBar ? (colours[bar % 4] ?? []) : [255, 255, 255]
  })
}
