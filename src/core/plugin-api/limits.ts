/** What one transformation may cost. All bounds are inclusive. */
export interface TransformLimits {
  sourceMaxBytes: number
  /** Of a video, which is read piece by piece. */
  videoMaxBytes: number
  /** Over all frames. */
  sourceMaxPixels: number
  /** Of each side, in pixels. */
  outputMaxSide: number
  /** Over all frames. */
  outputMaxPixels: number
  /** Bytes of what is made; a larger output is a failure. */
  outputMaxBytes: number
  timeoutMs: number
  /** What is done with a picture whose file ends too early; `render` when not given: as far as the file goes. */
  truncated?: 'render' | 'refuse'
  /** Resident memory at which ffmpeg and ffprobe are killed, in bytes; 1 GiB when not given. */
  mediaMaxMemoryBytes?: number
}
