import type { PDFiumModule } from '@hyzyla/pdfium'
import { type ScriptName, scriptsIn } from '../../../core/media/scripts.ts'

type PDFium = Awaited<ReturnType<typeof PDFiumModule>>

/** Functions of pdfium that the package has, but does not declare. */
interface Undeclared {
  _FPDFText_GetUnicode(text: number, index: number): number
  _FPDFText_GetTextObject(text: number, index: number): number
  _FPDFTextObj_GetFont(object: number): number
  _FPDFFont_GetIsEmbedded(font: number): number
}

// Of a page. Each character takes a microsecond.
const CHARACTERS_READ = 5_000
// Below it are Latin, Greek and Cyrillic.
const FIRST_OF_SCRIPTS = 0x590
const NOT_EMBEDDED = 0

/** The scripts of the text on a page whose fonts are not in the document. pdfium itself has fonts for Latin text only, and leaves others out. */
export function scriptsNotEmbedded(pdfium: PDFium, page: number): ScriptName[] {
  const lib = pdfium as PDFium & Undeclared
  const text = lib._FPDFText_LoadPage(page)
  if (text === 0) return []
  const count = Math.min(CHARACTERS_READ, lib._FPDFText_CountChars(text))
  const missing = new Set<string>()
  for (let i = 0; i < count; i += 1) {
    const code = lib._FPDFText_GetUnicode(text, i)
    if (code < FIRST_OF_SCRIPTS || code > 0x10ffff) continue
    const font = lib._FPDFTextObj_GetFont(lib._FPDFText_GetTextObject(text, i))
    if (font !== 0 && lib._FPDFFont_GetIsEmbedded(font) === NOT_EMBEDDED)
      missing.add(String.fromCodePoint(code))
  }
  lib._FPDFText_ClosePage(text)
  return scriptsIn([...missing].join(''))
}
