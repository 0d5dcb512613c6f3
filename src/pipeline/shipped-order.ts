/**
 * Sluice's own plugins, in the order in which they run unless `config/chain.json` says otherwise: what the variants of a
 * plain installation are named for.
 */
export const SHIPPED_ORDER: readonly string[] = [
  'video-thumbnail',
  'image-orient',
  'image-trim',
  'image-crop',
  'image-resize',
  'image-rotate',
  'image-flip',
  'image-flop',
  'image-normalize',
  'image-gamma',
  'image-modulate',
  'image-tint',
  'image-greyscale',
  'image-negate',
  'image-blur',
  'image-sharpen',
  'image-pad',
  'image-watermark',
  'image-text',
  'image-radius',
  'image-background',
  'image-format',
]
