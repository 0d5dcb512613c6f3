import sharp from 'sharp'

/** Two characters of each script, which differ in size in every font. */
const SAMPLES: Readonly<Record<string, readonly [string, string]>> = {
  Arabic: ['م', 'س'],
  Chinese: ['汉', '一'],
  Hebrew: ['א', 'ש'],
  Hindi: ['अ', 'ह'],
  Japanese: ['あ', 'ノ'],
  Korean: ['한', 'ㅣ'],
  Thai: ['ก', 'ฬ'],
}

/** A character for private use, which no font has: Pango draws its number in a box instead. */
const WITHOUT_GLYPH = '\u{F8A1}'

/** The names of scripts that no font of this machine has, sorted. Their characters are drawn as boxes. */
export async function scriptsWithoutFont(): Promise<string[]> {
  const box = await sizeOf(WITHOUT_GLYPH)
  const scripts = await Promise.all(
    Object.entries(SAMPLES).map(async ([script, samples]) => {
      const sizes = await Promise.all(samples.map(sizeOf))
      return sizes.every((size) => size === box) ? [script] : []
    }),
  )
  return scripts.flat()
}

/** The size of a character as it is drawn. */
async function sizeOf(character: string): Promise<string> {
  const { info } = await sharp({ text: { text: character, font: 'sans 40' } })
    .png()
    .toBuffer({ resolveWithObject: true })
  return `${info.width} x ${info.height}`
}
