import { decodedText } from '../text/decoded-text.ts'
import { type Format, isText } from './formats.ts'

/** The scripts whose fonts a machine may lack, and what their characters match. */
const SCRIPTS = {
  Arabic: /\p{Script=Arabic}/u,
  Chinese: /\p{Script=Han}/u,
  Hebrew: /\p{Script=Hebrew}/u,
  Hindi: /\p{Script=Devanagari}/u,
  Japanese: /[\p{Script=Hiragana}\p{Script=Katakana}]/u,
  Korean: /\p{Script=Hangul}/u,
  Thai: /\p{Script=Thai}/u,
} as const

export type ScriptName = keyof typeof SCRIPTS

/** Whether a stored name is one of {@link SCRIPTS}. */
export function isScript(name: string): name is ScriptName {
  return Object.hasOwn(SCRIPTS, name)
}

/** The scripts of the characters of a text, sorted. Only those of {@link SCRIPTS}. */
export function scriptsIn(text: string): ScriptName[] {
  return (Object.keys(SCRIPTS) as ScriptName[]).filter((name) => SCRIPTS[name].test(text))
}

/** Reads the bytes of a file as they pass, to find the scripts of the text that an image of it shows. */
export interface ScriptWatch {
  /** Takes the next bytes, in pieces of any length. */
  add(bytes: Uint8Array): void
  /** The scripts in the first 256 KB. */
  scripts(): ScriptName[]
}

// The first page of a text has 55 KB at most. Few SVGs are larger than this.
const WATCHED_BYTES = 256 * 1024
const CHARACTER_REFERENCE = /&#(?:x([\da-f]{1,6})|(\d{1,7}));/gi

/** Creates a watch for an SVG or a text file. Undefined for any other format. */
export function watchScripts(format: Format): ScriptWatch | undefined {
  const isSvg = format.name === 'svg'
  if (!isSvg && !isText(format)) return undefined
  const pieces: Uint8Array[] = []
  let left = WATCHED_BYTES
  return {
    add(bytes) {
      if (left <= 0) return
      // A copy: the memory of the piece may be used again.
      const piece = Buffer.from(bytes.subarray(0, left))
      pieces.push(piece)
      left -= piece.length
    },
    scripts() {
      const { text } = decodedText(Buffer.concat(pieces))
      return scriptsIn(isSvg ? text.replace(CHARACTER_REFERENCE, character) : text)
    },
  }
}

function character(reference: string, hex?: string, decimal?: string): string {
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
  return code <= 0x10ffff ? String.fromCodePoint(code) : reference
}
