import type { Asset } from '../../core/bytes/asset.ts'
import { knownFormat } from '../../core/media/formats.ts'
import { Problem } from '../../core/problem.ts'
import { BROKEN } from '../../core/transform-problems.ts'
import { undecodable } from '../ffmpeg/ffprobe.ts'
import type { RenderContext, VideoContainer, VideoDraft } from '../ffmpeg/video-source.ts'
import { type WriteContext, writeMedia } from '../ffmpeg/write-media.ts'
import { type CopiedStreams, copiedStreams } from './streams.ts'
import { checkOutcomeSize, outcomeSeconds, outcomeSize, transcodeArguments } from './transcode-arguments.ts'

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
    undecodable: (cause: unknown) => undecodable(cause, limits.sourceMaxPixels),
  }
  const write = (copied?: CopiedStreams) =>
    writeMedia(
      {
        ...writing,
        argumentsFor: (target) =>
          transcodeArguments(draft, { container, target, limits, canToneMap, ...(copied ? { copied } : {}) }),
      },
      context,
    )
  const copied = copiedStreams(draft, { container, outcome: outcomeSize(draft) })
  if (!copied.video && !copied.audio) return write()
  try {
    return await write(copied)
  } catch (error) {
    // A stream of an unusual structure cannot be copied, but may be decoded.
    if (!(error instanceof Problem) || error.members.reason !== BROKEN) throw error
    return write()
  }
}
