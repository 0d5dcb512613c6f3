import { stat } from 'node:fs/promises'
import type { Asset, CachedProbe } from '../../core/bytes/asset.ts'
import { formatOfMediaType } from '../../core/media/formats.ts'
import type { TransformLimits } from '../../core/plugin-api/limits.ts'
import { fileNotFound } from '../../core/problem.ts'
import { notTransformable } from '../../core/transform-problems.ts'
import type { Scratch, ScratchFile } from '../temp/scratch.ts'
import { demuxerOf } from './input.ts'

/** A file on this machine's disk, with the demuxer that reads it. */
export interface MediaFile extends ScratchFile {
  demuxer: string
  probe?: CachedProbe | undefined
}

/**
 * Ensures that a video or audio file is on this machine's disk, and runs `look` on it. When that fails, the file is
 * removed. Otherwise the caller removes it.
 *
 * @throws Problem 404, 422 for a file that is too large, 503, `signal.reason`, and the errors of `look`
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

/** @throws Problem 404 when the work failed because the file has been deleted */
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

/** @throws Problem 422 for a file that is too large */
export function checkMediaSize({ size, mediaType }: Asset, { videoMaxBytes }: TransformLimits): void {
  if (size <= videoMaxBytes) return
  const { group } = formatOfMediaType(mediaType)
  throw notTransformable(
    `expected ${group === 'audio' ? 'an audio file' : 'a video'} of at most ${videoMaxBytes} bytes to transform but this one has ${size}`,
  )
}
