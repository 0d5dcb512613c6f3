import { RAW_FORMATS } from '../../src/core/media/photos.ts'

const VECTOR = 'Sluice draws a vector picture in the size that is requested; sharp was told to enlarge nothing'
const TRUNCATED = 'Sluice renders a truncated picture as far as it goes; sharp refuses it'
const DECODED = 'Sluice has a decoder for it; sharp has none'
const PREVIEW = 'Sluice takes the preview of the photo; sharp reads no RAW files, or a tiny first image'
const PSDS = ['alpha', 'bitmap', 'cmyk', 'deep', 'grey', 'palette', 'raw', 'runs']
const JP2S = ['420.jp2', 'bare.j2k', 'deep.jp2', 'gray.jp2', 'tiles.jp2']
const JXLS = ['alpha', 'animated', 'deep', 'lossless', 'p3', 'sequence', 'turned']
const AVIFS = ['alpha', 'gainmap', 'grey', 'sequence', 'ten']
const OF_OTHERS = [
  'cjxl-jpeg.jxl',
  'cjxl-progressive.jxl',
  'gs-bmp16m.bmp',
  'gs-psdrgb.psd',
  'netpbm-os2.bmp',
  'netpbm.bmp',
  'netpbm.ico',
  'openjpeg-lossy.jp2',
]
const TURNED = 'Sluice turns the photo upright; sharp was not told to'
const PICTURE = 'ffprobe takes a picture for a video of one frame'
const UNREAD = 'recognised and delivered; Sluice lets ffmpeg read no such container'
const SOUND_ALONE = 'the first bytes of the container do not tell that it holds sound alone'

/**
 * Files of the corpus of which Sluice makes another picture than sharp alone, or that only one of them refuses: by name, the
 * reason.
 */
export const OTHER_THAN_SHARP: Readonly<Record<string, string>> = {
  'drawing.svgz': VECTOR,
  'text.svg': VECTOR,
  'truncated.jpg': TRUNCATED,
  'truncated.png': TRUNCATED,
  'truncated.gif': TRUNCATED,
  'truncated-interlaced.png': TRUNCATED,
  'bmp-2.bmp': DECODED,
  'bmp-3.bmp': DECODED,
  'im.bmp': DECODED,
  'im.cur': DECODED,
  'im.ico': DECODED,
  'avif-sequence.avif': DECODED,
  'im.heic': DECODED,
  'heic-alpha.heic': DECODED,
  'heic-gainmap.heic': DECODED,
  'heic-p3.heic': DECODED,
  'heic-photo.heic': DECODED,
  'heic-sequence.heic': DECODED,
  'heic-ten.heic': DECODED,
  'heic-turned.heic': DECODED,
  ...Object.fromEntries(RAW_FORMATS.map((format) => [`camera.${format}`, PREVIEW])),
  'im.psd': DECODED,
  'psb.psb': DECODED,
  'im.jp2': DECODED,
  'im.j2c': DECODED,
  ...Object.fromEntries(JP2S.map((kind) => [`jp2-${kind}`, DECODED])),
  ...Object.fromEntries(JXLS.map((kind) => [`jxl-${kind}.jxl`, DECODED])),
  ...Object.fromEntries(PSDS.map((kind) => [`psd-${kind}.psd`, DECODED])),
  ...Object.fromEntries(OF_OTHERS.map((name) => [name, DECODED])),
  'jpeg-adobe-gainmap.jpg': TURNED,
  'jpeg-iphone-gainmap.jpg': TURNED,
  'avifenc-sequence.avif': 'Sluice takes the first image of the sequence; sharp refuses it',
  'tags-odd.tif': 'a warning of libtiff is no error to Sluice; to sharp with its default options it is',
}

/** Files of which ffprobe finds another group or container, or which do not play: by name, the reason. */
export const OTHER_THAN_FFPROBE: Readonly<Record<string, string>> = {
  'im.avif': PICTURE,
  ...Object.fromEntries(AVIFS.map((kind) => [`avifenc-${kind}.avif`, PICTURE])),
  'avif-sequence.avif': PICTURE,
  'heic-sequence.heic': PICTURE,
  'im.cur': PICTURE,
  'im.ico': PICTURE,
  'netpbm.ico': PICTURE,
  'im.fits': PICTURE,
  'camera.cr3': PICTURE,
  'camera.raf': PICTURE,
  'camera.rw2': PICTURE,
  'pdf-scan.pdf': PICTURE,
  'im.jng': PICTURE,
  'im.hdr': 'ffprobe takes the text at its start for subtitles',
  'text.vtt': 'ffprobe finds subtitles, which are text',
  'im.mng': UNREAD,
  'movie.mxf': UNREAD,
  'movie.nut': UNREAD,
  'tone.mid': UNREAD,
  'movie.swf': 'a program: it is delivered as a file, not played',
  'mp4-sound.mp4': SOUND_ALONE,
  'sound.mka': SOUND_ALONE,
  'sox.8svx': 'sound of an old computer, in a container that Sluice does not distinguish: it is delivered as a file',
  'sound.eac3': 'E-AC-3 has the signature of AC-3, whose demuxer reads it as well',
}
