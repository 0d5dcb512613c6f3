import { stat } from 'node:fs/promises'
import type { Asset, CachedProbe } from '../../core/bytes/asset.ts'
import { formatOfMediaType } from '../../core/media/formats.ts'
import type { TransformLimits } from '../../core/plugin-api/limits.ts'
import { fileNotFound } from '../../core/problem.ts'
import { notTransformable } from '../../core/transform-problems.ts'
import type { Scratch, ScratchFile } from '../temp/scratch.ts'
import { demuxerOf } from './input.ts'

/** A file on this machine's disk, and what it is read by. */
export interface MediaFile extends ScratchFile {
  demuxer: string
  probe?: CachedProbe | undefined
}

/**
 * Has a video or sound lie on this machine's disk, and looks into it. The file is removed when that fails, else it is the
 * caller's to remove.
 *
 * @throws Problem 404, 422 for one that is too long, 503, `signal.reason`, and whatever `look` throws
 */
export async function openMedia<T>(
  asset: Asset,
  { scratch, signal, limits }: { scratch: Scratch; signal: AbortSignal; limits: TransformLimits },
  look: (file: MediaFile) => Promise<T>,
): Promise<{ file: MediaFile; found: T }> {
  checkMediaSize(asset, limits)
  const format = formatOfMediaType(asset.mediaType)
  const demuxer = demuxerOf(format)
  if (demuxer === undefined)
    throw notTransformable(`expected a video or audio file that can be read but this file is ${format.name}`)
  const file = { ...(await scratch.take(asset, signal)), demuxer, probe: asset.probe }
  try {
    return { file, found: await unlessGone(file.path, look(file)) }
  } catch (error) {
    await file.remove()
    throw error
  }
}

/** @throws Problem 404 when work has failed on a file that is not there any more */
export async function unlessGone<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const isGone = await stat(path).then(
      () => false,
      ({ code }: NodeJS.ErrnoException) => code === 'ENOENT',
    )
    throw isGone ? fileNotFound() : error
  }
}

/** @throws Problem 422 for a file that is too long */
export function checkMediaSize({ size, mediaType }: Asset, { videoMaxBytes }: TransformLimits): void {
  if (size <= videoMaxBytes) return
  const { group } = formatOfMediaType(mediaType)
  throw notTransformable(
    `expected ${group === 'audio' ? 'an audio file' : 'a video'} of at most ${videoMaxBytes} bytes to transform but this one has ${size}`,
  )
}
