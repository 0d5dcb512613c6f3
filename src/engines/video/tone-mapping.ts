import type { VideoSource } from '../ffmpeg/video-source.ts'

// ITU-R BT.2100: perceptual quantizer, hybrid log-gamma.
const HDR_TRANSFERS = ['smpte2084', 'arib-std-b67']
const WIDE_PRIMARIES = 'bt2020'
// What a screen of usual brightness shows as white. Of a picture for brighter ones, this is where it begins to be pressed.
const WHITE_NITS = 100

/** Filters of ffmpeg that {@link toneMapping} needs; not every build has them. */
export const TONE_MAPPING_FILTERS: readonly string[] = ['zscale', 'tonemap']

/** Whether a screen of usual colours and brightness shows its pictures wrong as they are stored. */
export function needsToneMapping({ transfer, primaries }: VideoSource): boolean {
  return HDR_TRANSFERS.includes(transfer ?? '') || primaries === WIDE_PRIMARIES
}

/**
 * Filters that turn HDR, or the wide gamut of BT.2020, into BT.709 of 8 bits a channel; none for a video that is that
 * already. `mobius` leaves all but the brightest parts as they are, where `hable` would darken every picture.
 *
 * @see ITU-R BT.2390, BT.2407
 */
export function toneMapping(source: VideoSource): readonly string[] {
  if (!needsToneMapping(source)) return []
  const { transfer = 'bt709', colorMatrix = 'bt2020nc', primaries = WIDE_PRIMARIES } = source
  const isHdr = HDR_TRANSFERS.includes(transfer)
  return [
    // Said in full: where the file leaves out one of them, zscale knows no way from there.
    `zscale=min=${colorMatrix}:tin=${transfer}:pin=${primaries}:t=linear:npl=${WHITE_NITS}`,
    'format=gbrpf32le',
    'zscale=p=bt709',
    ...(isHdr ? ['tonemap=mobius:desat=0'] : []),
    'zscale=t=bt709:m=bt709:r=limited',
    'format=yuv444p',
  ]
}
