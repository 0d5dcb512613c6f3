import type { Config } from '../../config/load.ts'
import { coresOf } from '../../config/memory-profile.ts'
import type { TransformLimits } from '../core/plugin-api/limits.ts'

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
    outputMaxSide: 5000,
    // Two frames of 5000 x 5000: a small animation that is enlarged costs as much as a large one.
    outputMaxPixels: 50_000_000,
    outputMaxBytes: config.OUTPUT_MAX_BYTES,
    timeoutMs: TRANSFORM_TIMEOUT_SECONDS * 1000,
    cores: coresOf(config),
    truncated: config.IMAGE_TRUNCATED,
    mediaMaxMemoryBytes: MEDIA_MAX_MEMORY_BYTES,
  }
}
