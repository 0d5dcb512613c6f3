import type { PDFiumModule } from '@hyzyla/pdfium'
import type { Size } from '../../../core/geometry/box.ts'
import type { ScriptName } from '../../../core/media/scripts.ts'
import { COPY_SIDE } from '../../../core/media/smaller-copies.ts'
import { encryptedFile } from '../../../core/transform-problems.ts'
import type { Decoder } from '../decoders/decoder.ts'
import { tiffOf } from '../decoders/tiff.ts'
import { checkPage } from '../pixel-limits.ts'
import { scriptsNotEmbedded } from './pdf-fonts.ts'

type PDFium = Awaited<ReturnType<typeof PDFiumModule>>

// Values of pdfium. Its byte order is blue, green, red unless it is reversed.
const PASSWORD_ERROR = 4
const BGR = 2
const WITH_ANNOTATIONS = 0x01
const REVERSED_BYTE_ORDER = 0x10
const WHITE = 0xff_ff_ff_ff
const CHANNELS = 3

// A page in A4 has 4.6 megapixels. pdfium draws it in 25 ms.
const LONGEST_SIDE = COPY_SIDE
// A list of a million pages would fill the memory.
const LISTED_PAGES = 100
// Their text is read.
const READ_PAGES = 20

/**
 * PDF, with pdfium as WebAssembly. A page is drawn on white, with its annotations, so that its longest side has
 * {@link LONGEST_SIDE} pixels. Scripts and links of the document are ignored. pdfium has fonts for text whose font is not embedded.
 */
export const pdf: Decoder = {
  library: 'pdfium',
  // The bitmap and the TIFF, pdfium itself with its fonts, and the images on the page.
  bytesPerPixel: 24,
  assumed: { width: LONGEST_SIDE, height: LONGEST_SIDE },

  // The table of contents of a PDF is at its end.
  facts: () => undefined,

  async decode(bytes, { check, page: number = 1 }) {
    const { lib, document, pages } = await opened(bytes)
    checkPage(number, { pages })
    const page = pageOf(lib, document, number)
    const { width, height } = drawn(sizeOf(lib, page))
    check({ width, height })
    const stride = width * CHANNELS
    const pixels = lib.wasmExports.malloc(stride * height)
    const bitmap = lib._FPDFBitmap_CreateEx(width, height, BGR, pixels, stride)
    if (pixels === 0 || bitmap === 0) throw new Error('pdfium: no memory for a bitmap')
    lib._FPDFBitmap_FillRect(bitmap, 0, 0, width, height, WHITE)
    lib._FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, WITH_ANNOTATIONS | REVERSED_BYTE_ORDER)
    const row = (y: number) => lib.HEAPU8.subarray(pixels + y * stride, pixels + (y + 1) * stride)
    return { bytes: tiffOf({ width, height, channels: CHANNELS, row }), mediaType: 'image/tiff' }
  },

  async inspect(bytes) {
    const { lib, document, pages } = await opened(bytes)
    const scripts = new Set<ScriptName>()
    const pageSizes = Array.from({ length: Math.min(pages, LISTED_PAGES) }, (_, i) => {
      const page = pageOf(lib, document, i + 1)
      const size = sizeOf(lib, page)
      if (i < READ_PAGES) for (const script of scriptsNotEmbedded(lib, page)) scripts.add(script)
      lib._FPDF_ClosePage(page)
      return { width: rounded(size.width), height: rounded(size.height) }
    })
    const scriptsWithoutFont = [...scripts].sort()
    return {
      ...{ ...drawn(pageSizes[0] as Size), hasAlpha: false, pages, pageSizes },
      ...(scriptsWithoutFont.length > 0 ? { scriptsWithoutFont } : {}),
    }
  },
}

/**
 * Opens a document. Each one has an instance of its own, which takes 30 ms: the memory of WebAssembly never shrinks, and a broken
 * file may leave an instance unusable.
 *
 * @throws Problem 422 for a document that needs a password
 */
async function opened(bytes: Buffer): Promise<{ lib: PDFium; document: number; pages: number }> {
  const { PDFiumModule: create } = await import('@hyzyla/pdfium')
  const silent = () => {}
  const options: object = { print: silent, printErr: silent }
  const lib = await create(options)
  lib._FPDF_InitLibraryWithConfig({})
  const file = lib.wasmExports.malloc(bytes.length)
  if (file === 0) throw new Error('pdfium: no memory for the file')
  lib.HEAPU8.set(bytes, file)
  const document = lib._FPDF_LoadMemDocument(file, bytes.length, 0)
  if (document === 0) {
    const error = lib._FPDF_GetLastError()
    if (error === PASSWORD_ERROR) throw encryptedFile('PDF')
    throw new Error(`pdfium: error ${error}`)
  }
  const pages = lib._FPDF_GetPageCount(document)
  // Without this, a request for the first page of a broken file would be the fault of the caller.
  if (pages < 1) throw new Error('the PDF has no pages')
  return { lib, document, pages }
}

function pageOf(lib: PDFium, document: number, number: number): number {
  const page = lib._FPDF_LoadPage(document, number - 1)
  if (page === 0) throw new Error(`pdfium: page ${number} cannot be read`)
  return page
}

/** The size of an upright page in points, of which 72 are an inch. */
function sizeOf(lib: PDFium, page: number): Size {
  return { width: lib._FPDF_GetPageWidth(page), height: lib._FPDF_GetPageHeight(page) }
}

/** The size in which a page is drawn, in pixels. */
function drawn({ width, height }: Size): Size {
  const scale = LONGEST_SIDE / Math.max(width, height)
  if (!(scale > 0 && Number.isFinite(scale))) throw new Error('the page has no size')
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) }
}

function rounded(points: number): number {
  return Math.round(points * 100) / 100
}
