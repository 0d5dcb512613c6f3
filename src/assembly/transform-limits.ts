import type { Config } from '../../config/load.ts'
import { coresOf } from '../../config/memory-profile.ts'
import { SIDE_MAX } from '../core/geometry/output-limit.ts'
import type { TransformLimits } from '../core/plugin-api/limits.ts'

// Threads of libuv's pool, which has four by default, that are left to file operations.
const THREADS_FOR_FILES = 2

/** The cost limits of one request: by default 40 MB of file, 50 MP x 4 bytes = 200 MB of pixels, half a minute of a core. */
export function limitsOf(config: Config): TransformLimits {
  const {
    IMAGE_MAX_BYTES,
    VIDEO_MAX_BYTES,
    IMAGE_MAX_PIXELS,
    TRANSFORM_TIMEOUT_SECONDS,
    MEDIA_MAX_MEMORY_BYTES,
  } = config
  return {
    sourceMaxBytes: IMAGE_MAX_BYTES,
    videoMaxBytes: VIDEO_MAX_BYTES,
    sourceMaxPixels: IMAGE_MAX_PIXELS,
    outputMaxSide: SIDE_MAX,
    // Two frames of 5000 x 5000: a small animation that is enlarged costs as much as a large one.
    outputMaxPixels: 50_000_000,
    outputMaxBytes: config.OUTPUT_MAX_BYTES,
    timeoutMs: TRANSFORM_TIMEOUT_SECONDS * 1000,
    cores: coresOf(config),
    truncated: config.IMAGE_TRUNCATED,
    mediaMaxMemoryBytes: MEDIA_MAX_MEMORY_BYTES,
  }
}

/**
 * The maximum of concurrent transformations: the number of cores per web process, plus three where threads are left for
 * them: one is reserved for trusted callers, one for a new caller, and one keeps a core busy between the end of one
 * transformation and the begin of the next, for 7 % of the time. In a child process, the additional ones would cost more
 * than they gain.
 */
export function transformsAtOnce(config: Config): number {
  if (config.MEMORY_PROFILE === 'small') return 1
  const cores = Math.max(1, Math.floor(coresOf(config) / config.WEB_CONCURRENCY))
  return Math.min(cores + 3, Math.max(cores, threadsForTransforms(config)))
}

/**
 * Threads for transformations in this process. Some of libuv's threads
 * are left to files, which would else wait for transformations.
 */
export function threadsForTransforms({ UV_THREADPOOL_SIZE }: Config): number {
  return Math.max(1, UV_THREADPOOL_SIZE - THREADS_FOR_FILES)
}
