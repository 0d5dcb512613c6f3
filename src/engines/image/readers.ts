import sharp from 'sharp'
import { type Format, isOffice } from '../../core/media/formats.ts'
import { isRaw } from '../../core/media/photos.ts'
import { SEQUENCE_FORMATS, usualDecoderOf } from './decoders/decoders.ts'
import { sequence } from './sequences/sequence.ts'

/** The name of what reads images of a format; undefined when they are not transformed. */
export function imageReaderOf(format: Format): string | undefined {
  const { name, extension, group } = format
  if (isOffice(format)) return 'LibreOffice, pdfium'
  // A page or a cover of a document.
  if (group !== 'image') return usualDecoderOf(name)?.library
  if (isRaw(name)) return 'libvips (the preview)'
  const reader = usualDecoderOf(name)?.library ?? (isOfLibvips(extension) ? 'libvips' : undefined)
  return SEQUENCE_FORMATS.has(name) ? `${reader}; ${sequence.library} (animations)` : reader
}

function isOfLibvips(extension: string): boolean {
  return Object.values(sharp.format).some(
    ({ input }) => input.buffer && input.fileSuffix?.includes(`.${extension}`),
  )
}
