import type { VideoSource } from '../ffmpeg/video-source.ts'

// ITU-R BT.2100: perceptual quantizer, hybrid log-gamma.
const HDR_TRANSFERS = ['smpte2084', 'arib-std-b67']
const WIDE_PRIMARIES = 'bt2020'
// The brightness of white on a standard screen. Brighter parts of the video are compressed.
const WHITE_NITS = 100

/** The ffmpeg filters that {@link toneMapping} needs. Some builds lack them. */
export const TONE_MAPPING_FILTERS: readonly string[] = ['zscale', 'tonemap']

/** Whether a standard screen would show the stored colours wrong. */
export function needsToneMapping({ transfer, primaries }: VideoSource): boolean {
  return HDR_TRANSFERS.includes(transfer ?? '') || primaries === WIDE_PRIMARIES
}

/**
 * Filters that convert HDR, or the wide gamut of BT.2020, to BT.709 with 8 bits per channel; empty for a video
 * without these. `mobius` changes only the brightest parts, whereas `hable` would darken every frame.
 *
 * @see ITU-R BT.2390, BT.2407
 */
export function toneMapping(source: VideoSource): readonly string[] {
  if (!needsToneMapping(source)) return []
  const { transfer = 'bt709', colorMatrix = 'bt2020nc', primaries = WIDE_PRIMARIES } = source
  const isHdr = HDR_TRANSFERS.includes(transfer)
  return [
    // All three are always set: zscale fails when the file lacks one of them.
    `zscale=min=${colorMatrix}:tin=${transfer}:pin=${primaries}:t=linear:npl=${WHITE_NITS}`,
    'format=gbrpf32le',
    'zscale=p=bt709',
    ...(isHdr ? ['tonemap=mobius:desat=0'] : []),
    'zscale=t=bt709:m=bt709:r=limited',
    'format=yuv444p',
  ]
}
