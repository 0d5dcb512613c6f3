import type { Asset } from '../../core/bytes/asset.ts'
import { knownFormat } from '../../core/media/formats.ts'
import { undecodable } from '../ffmpeg/ffprobe.ts'
import type { RenderContext, VideoContainer, VideoDraft } from '../ffmpeg/video-source.ts'
import { type WriteContext, writeMedia } from '../ffmpeg/write-media.ts'
import { checkOutcomeSize, outcomeSeconds, transcodeArguments } from './transcode-arguments.ts'

/** Transcodes the video of a draft in one run of ffmpeg. @throws errors of {@link writeMedia} */
export async function transcode(
  draft: VideoDraft,
  container: VideoContainer,
  context: RenderContext & WriteContext,
): Promise<Asset> {
  const { limits, canToneMap } = context
  checkOutcomeSize(draft)
  const writing = {
    format: knownFormat(container),
    seconds: outcomeSeconds(draft),
    argumentsFor: (target: string) => transcodeArguments(draft, { container, target, limits, canToneMap }),
    undecodable: (cause: unknown) => undecodable(cause, limits.sourceMaxPixels),
  }
  return writeMedia(writing, context)
}
