import sharp from 'sharp'
import type { Config } from '../../../config/load.ts'
import { programEnvironment } from '../../../config/programs.ts'
import type { Finding } from '../../core/checkup.ts'
import { createPrograms } from '../../engines/ffmpeg/installed.ts'
import { scriptsWithoutFont } from '../../engines/image/documents/scripts.ts'
import { isConfinable, noSandbox } from '../../engines/office/confined.ts'
import { findSoffice, INSTALL as INSTALL_OFFICE } from '../../engines/office/soffice.ts'
import { isLeftToWorkers } from '../transforms.ts'

// The encoders of the outputs of Sluice: MP4 and HLS, WebM, AVI, images of videos, and audio files.
const ENCODERS = [
  ...['libx264', 'libvpx-vp9', 'mpeg4', 'mjpeg'],
  ...['aac', 'libopus', 'libvorbis', 'libmp3lame', 'flac', 'pcm_s16le'],
]
const INSTALL = 'Install ffmpeg: apt-get install --no-install-recommends ffmpeg'

/** Checks ffmpeg and ffprobe, and the encoders that they were built with. */
export async function checkMedia(config: Config, env = programEnvironment()): Promise<Finding[]> {
  const programs = createPrograms(env)
  const missing = await programs.missing()
  if (missing.length > 0) {
    const found = `${missing.join(' and ')} not found in PATH`
    // Images of videos are rendered in the web process in any case.
    const who = isLeftToWorkers(config) ? 'on the machines of web processes and workers' : 'on this machine'
    return [
      {
        state: 'warning',
        found,
        advice: `${INSTALL}, ${who}. Videos and audio are not transformed without it.`,
      },
    ]
  }
  const found = `version ${await programs.version()}`
  const lacking = await programs.lacking(ENCODERS)
  if (lacking.length === 0) return [{ state: 'ok', found: `${found}, with all encoders` }]
  return [
    {
      state: 'warning',
      found: `${found}, without the encoders ${lacking.join(', ')}`,
      advice: `${INSTALL} of Debian or Ubuntu. Formats with these encoders fail without them.`,
    },
  ]
}

/** Looks for LibreOffice. Few installations need it, so its absence is no warning. */
export async function checkOffice(env = programEnvironment()): Promise<Finding[]> {
  const program = await findSoffice(env)
  if (program === undefined)
    return [{ state: 'ok', found: `not installed. For pages of Office documents: ${INSTALL_OFFICE}` }]
  if (await isConfinable(env)) return [{ state: 'ok', found: program }]
  return [{ state: 'warning', found: `${program}, without a sandbox`, advice: noSandbox().message }]
}

/** Checks which scripts can be drawn: in SVG files, previews of texts and documents, and by the parameter `text`. */
export async function checkFonts(lacking = scriptsWithoutFont): Promise<Finding[]> {
  const scripts = await lacking()
  if (scripts.length === 0) return [{ state: 'ok', found: 'all scripts that were tried can be drawn' }]
  return [
    {
      state: 'warning',
      found: `no font for ${scripts.join(', ')}: their characters are drawn as boxes`,
      advice: 'Install fonts: apt-get install --no-install-recommends fonts-noto-core fonts-noto-cjk',
    },
  ]
}

// By the names of sharp.
const FORMATS = ['jpeg', 'png', 'webp', 'gif', 'tiff', 'svg', 'heif'] as const

/** Checks the image formats of sharp. */
export async function checkImages(): Promise<Finding[]> {
  const { versions, format } = sharp
  const lacking = FORMATS.filter((name) => !format[name]?.input.buffer)
  const found = `version ${versions.sharp}, libvips ${versions.vips}`
  if (lacking.length === 0) return [{ state: 'ok', found: `${found}, with all formats` }]
  return [
    {
      state: 'problem',
      found: `${found}, without ${lacking.join(', ')}`,
      advice: 'Install the prebuilt sharp: npm install --include=optional sharp.',
    },
  ]
}
