import type { VideoSource } from '../ffmpeg/video-source.ts'

/** The arguments before an input with transparency. */
export function decoderArguments({ alphaDecoder }: VideoSource): string[] {
  return alphaDecoder === undefined ? [] : ['-c:v', alphaDecoder]
}

/**
 * The filters that put white beneath transparent parts, as in images.
 *
 * @param name distinguishes their links from those of other streams in the same graph
 */
export function flattened({ alphaDecoder }: VideoSource, name: string): string[] {
  if (alphaDecoder === undefined) return []
  const [below, above, white] = ['below', 'above', 'white'].map((link) => `[${link}${name}]`)
  return [
    `split${below}${above};${below}drawbox=c=white:t=fill:replace=1${white};${white}${above}overlay=format=auto`,
  ]
}
