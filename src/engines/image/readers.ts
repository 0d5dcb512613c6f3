import sharp from 'sharp'
import { type Format, isOffice } from '../../core/media/formats.ts'
import { isRaw } from '../../core/media/photos.ts'
import { decoderOf } from './decoders/decoders.ts'

/** The name of what reads images of a format; undefined when they are not transformed. */
export function imageReaderOf(format: Format): string | undefined {
  const { name, extension, group } = format
  if (isOffice(format)) return 'LibreOffice, pdfium'
  // A page or a cover of a document.
  if (group !== 'image') return decoderOf(name)?.library
  if (isRaw(name)) return 'libvips (the preview)'
  return decoderOf(name)?.library ?? (isOfLibvips(extension) ? 'libvips' : undefined)
}

function isOfLibvips(extension: string): boolean {
  return Object.values(sharp.format).some(
    ({ input }) => input.buffer && input.fileSuffix?.includes(`.${extension}`),
  )
}
