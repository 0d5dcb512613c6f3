/** Limits of the cost of one transformation. All bounds are inclusive. */
export interface TransformLimits {
  sourceMaxBytes: number
  /** Limit of a video source, which is read piece by piece. */
  videoMaxBytes: number
  /** Pixels of all frames together. */
  sourceMaxPixels: number
  /** Limit of each side, in pixels. */
  outputMaxSide: number
  /** Pixels of all frames together. */
  outputMaxPixels: number
  /** Bytes of the output; a larger output is an error. */
  outputMaxBytes: number
  timeoutMs: number
  /** CPU cores for one run of ffmpeg. It may have a thread for each. */
  cores: number
  /** The policy for an image whose file is truncated; `render` by default, which renders the part that exists. */
  truncated?: 'render' | 'refuse'
  /** Resident memory at which ffmpeg and ffprobe are killed, in bytes; 1 GiB by default. */
  mediaMaxMemoryBytes?: number
}
