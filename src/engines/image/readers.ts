import sharp from 'sharp'
import type { Format } from '../../core/media/formats.ts'
import { isRaw } from '../../core/media/photos.ts'
import { usualDecoderOf } from './decoders/decoders.ts'

/** The name of what reads images of a format; undefined when they are not transformed. */
export function imageReaderOf({ name, extension, group }: Format): string | undefined {
  // A page or a cover of a document.
  if (group !== 'image') return usualDecoderOf(name)?.library
  if (isRaw(name)) return 'libvips (the preview)'
  return usualDecoderOf(name)?.library ?? (isOfLibvips(extension) ? 'libvips' : undefined)
}

function isOfLibvips(extension: string): boolean {
  return Object.values(sharp.format).some(
    ({ input }) => input.buffer && input.fileSuffix?.includes(`.${extension}`),
  )
}
