import sharp from 'sharp'
import type { ScriptName } from '../../../core/media/scripts.ts'

/** Two characters of each script, which differ in size in every font. */
const SAMPLES: Readonly<Record<ScriptName, readonly [string, string]>> = {
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

let lacking: Promise<ScriptName[]> | undefined

/**
 * The scripts that no font of this machine has, sorted: their characters are drawn as boxes. The first call takes 30 ms of CPU time and
 * 7 MB. Fonts that are installed later are not noticed.
 */
export function scriptsWithoutFont(): Promise<ScriptName[]> {
  lacking ??= findLacking()
  return lacking
}

/** Begins to look for the fonts of this machine. @returns the scripts without one; undefined until that is known */
export function watchFonts(): { lacking: () => readonly ScriptName[] | undefined } {
  let known: readonly ScriptName[] | undefined
  scriptsWithoutFont().then(
    (found) => {
      known = found
    },
    () => {},
  )
  return { lacking: () => known }
}

async function findLacking(): Promise<ScriptName[]> {
  const box = await sizeOf(WITHOUT_GLYPH)
  const scripts = await Promise.all(
    (Object.keys(SAMPLES) as ScriptName[]).map(async (script) => {
      const sizes = await Promise.all(SAMPLES[script].map(sizeOf))
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
