import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, extname, join, resolve } from 'node:path'

/** A font as sharp expects it. */
export interface Font {
  file: string
  /** The name in Pango's syntax; a size can follow: `DejaVu Sans, Bold`. */
  description: string
}

const DEJAVU = join(dirname(createRequire(import.meta.url).resolve('dejavu-fonts-ttf/package.json')), 'ttf')

const SHIPPED: ReadonlyMap<string, string> = new Map([
  ['sans', join(DEJAVU, 'DejaVuSans.ttf')],
  ['sans-bold', join(DEJAVU, 'DejaVuSans-Bold.ttf')],
  ['serif', join(DEJAVU, 'DejaVuSerif.ttf')],
  ['serif-bold', join(DEJAVU, 'DejaVuSerif-Bold.ttf')],
  ['mono', join(DEJAVU, 'DejaVuSansMono.ttf')],
  ['mono-bold', join(DEJAVU, 'DejaVuSansMono-Bold.ttf')],
])

/** The shipped fonts, with Latin, Greek and Cyrillic letters and more. */
export const SHIPPED_FONTS = [...SHIPPED.keys()]

/** The scripts that the shipped fonts have, of those that a machine may lack. */
export const SHIPPED_SCRIPTS: readonly string[] = ['Arabic', 'Hebrew']

/**
 * Reads the fonts in a folder, by their names in URLs: `inter-bold` for `Inter Bold.ttf`.
 * @throws Error that names a file that is not a font, or two files with the same font name
 */
export function fontsIn(folder: string): ReadonlyMap<string, Font> {
  const fonts = new Map<string, Font>()
  for (const entry of readdirSync(folder).sort()) {
    const extension = extname(entry)
    if (!/^\.(ttf|otf)$/i.test(extension)) continue
    const name = entry
      .slice(0, -extension.length)
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
    const file = join(folder, entry)
    const earlier = fonts.get(name)
    if (earlier)
      throw new Error(`${file}: the font ${name} is already defined by ${earlier.file}. Rename one of them`)
    fonts.set(name, readFont(file))
  }
  return fonts
}

/** Finds a font by its name, in the folder or among the shipped ones; undefined for an unknown name. */
export function fontNamed(name: string, folder: string | undefined): Font | undefined {
  const shipped = SHIPPED.get(name)
  const fonts = folder === undefined ? undefined : known(`folder ${resolve(folder)}`, () => fontsIn(folder))
  if (fonts?.has(name)) return fonts.get(name)
  return shipped === undefined ? undefined : known(shipped, () => readFont(shipped))
}

// Fonts are read once. A new file in a folder is found after a restart, which also adds it to the accepted values.
const memory = new Map<string, unknown>()

function known<T>(key: string, read: () => T): T {
  if (!memory.has(key)) memory.set(key, read())
  return memory.get(key) as T
}

/** @throws Error that names the file */
function readFont(file: string): Font {
  try {
    const { family, style } = namesOf(readFileSync(file))
    return { file, description: `${family}, ${style}` }
  } catch (cause) {
    throw new Error(`${file}: expected a TrueType or OpenType font`, { cause })
  }
}

const FAMILY = 1
const STYLE = 2
// The platform that the table of every current font has: UTF-16, in English.
const WINDOWS = 3
const ENGLISH = 0x409

/**
 * Reads the names of a font from its `name` table.
 * @see https://learn.microsoft.com/typography/opentype/spec/name
 */
function namesOf(font: Buffer): { family: string; style: string } {
  const table = tableAt(font, 'name')
  const count = table.readUInt16BE(2)
  const texts = table.subarray(table.readUInt16BE(4))
  const names = new Map<number, string>()
  for (let i = 0; i < count; i += 1) {
    const at = 6 + i * 12
    const [platform, , language, id = 0, length = 0, offset = 0] = [0, 2, 4, 6, 8, 10].map((part) =>
      table.readUInt16BE(at + part),
    )
    if (platform !== WINDOWS || language !== ENGLISH) continue
    names.set(
      id,
      Buffer.from(texts.subarray(offset, offset + length))
        .swap16()
        .toString('utf16le'),
    )
  }
  const [family, style] = [names.get(FAMILY), names.get(STYLE)]
  if (!family || !style) throw new Error('the font has no name')
  return { family, style }
}

function tableAt(font: Buffer, tag: string): Buffer {
  const count = font.readUInt16BE(4)
  for (let i = 0; i < count; i += 1) {
    const at = 12 + i * 16
    if (font.toString('latin1', at, at + 4) !== tag) continue
    const offset = font.readUInt32BE(at + 8)
    return font.subarray(offset, offset + font.readUInt32BE(at + 12))
  }
  throw new Error(`the font has no table ${tag}`)
}
